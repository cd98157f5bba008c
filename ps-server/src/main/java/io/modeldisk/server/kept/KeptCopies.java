package io.modeldisk.server.kept;

import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Copies of blocks, in a fixed number of places. A block has at most one copy. The copy of a block is guarded by the lock of the
 * block, and the free places by the monitor of this object. Thread-safe. Allocates no memory after construction.
 */
final class KeptCopies implements AutoCloseable {
    private static final int NONE = -1;

    private final int blockSizeBytes;
    private final DataMemory memory;
    /** The place of the copy of each block. */
    private final int[] places;
    /** The version of the copy of each block. */
    private final long[] versions;
    private final int[] free;
    private int freeCount;

    /** Allocates {@code count} places, which may be 0. */
    KeptCopies(int blocks, int blockSizeBytes, int count) {
        this.blockSizeBytes = blockSizeBytes;
        this.memory = count == 0 ? null : DataMemory.allocate((long) count * blockSizeBytes);
        this.places = new int[blocks];
        Arrays.fill(places, NONE);
        this.versions = new long[blocks];
        this.free = new int[count];
        for (int i = 0; i < count; i++) {
            free[i] = i;
        }
        this.freeCount = count;
    }

    boolean has(int block) {
        return places[block] != NONE;
    }

    /** Copies a block that has no copy. Returns false if all places are in use. */
    boolean take(ShardBlock block) {
        int place = freePlace();
        if (place == NONE) {
            return false;
        }
        MemorySegment.copy(block.readable().weights(), 0, memory.segment(offset(place), block.lengthBytes()), 0,
            block.lengthBytes());
        versions[block.index()] = block.version();
        places[block.index()] = place;
        return true;
    }

    /** The memory that existing copies use, in bytes. */
    synchronized long usedBytes() {
        return (long) (free.length - freeCount) * blockSizeBytes;
    }

    /** Returns the memory with the copies. */
    DataMemory memory() {
        return memory;
    }

    /** Returns the offset of a block's copy in the memory. */
    long offsetOf(int block) {
        return offset(places[block]);
    }

    long versionOf(int block) {
        return versions[block];
    }

    /** Discards the copy of a block, if there is one. */
    void discard(int block) {
        int place = places[block];
        if (place != NONE) {
            places[block] = NONE;
            synchronized (this) {
                free[freeCount++] = place;
            }
        }
    }

    private long offset(int place) {
        return (long) place * blockSizeBytes;
    }

    private synchronized int freePlace() {
        return freeCount == 0 ? NONE : free[--freeCount];
    }

    @Override
    public void close() {
        if (memory != null) {
            memory.close();
        }
    }
}
