package io.modeldisk.fault.shard;

import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.platform.threads.ScopedLock;
import java.lang.foreign.MemorySegment;

/**
 * A block of weights. The caller of a method must hold the lock of the block, except for {@link #hold}, {@link #version} and
 * values that never change.
 */
public interface ShardBlock {
    /** The index of the block within the shard, from 0. */
    int index();

    /** The length of the block in bytes. Only the last block of a shard can be shorter than the block size. */
    int lengthBytes();

    /** Locks the block. The caller closes the result in the same thread. Lock several blocks in the order of their indexes. */
    ScopedLock.Held hold();

    /** Returns the weights for reading. The weights are valid until the lock is released. */
    BlockMemory readable();

    /** Returns the weights for writing. The weights are valid until the lock is released. */
    BlockMemory writable();

    /** The aggregator state of the block; {@link MemorySegment#NULL} if the aggregator has no state. */
    MemorySegment state();

    /** The length of {@link #state} in bytes, which never changes. */
    long stateBytes();

    /** The number of updates of the block. */
    long version();

    /** Sets the version that the block has in a checkpoint or a record. May be called only before the first update. */
    void restoreVersion(long version);
}
