package io.modeldisk.aggregator.device;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.platform.time.NanoClock;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The shape of the data that a device keeps for a shard.
 *
 * @param sizeBytes the size of the shard, a multiple of 4096
 * @param blockSizeBytes the size of a block; the last block can be shorter
 * @param aggregator the aggregator that the device computes, which must stay open while the device is in use
 * @param withSums whether the device keeps a sum of gradients for each block
 * @param pushBytes the size of the device memory into which RDMA devices put gradients, a multiple of 64 KiB; 0 for none
 * @param mirrors the host memory into which the device copies weights, in slabs of at most 1 GiB, each with whole blocks
 * @param state returns the host memory for the {@linkplain Aggregator#stateBytesPerLogicalBlock() state} of a block
 * @param clock the clock for waits
 * @param name the name of the shard, for threads and messages
 */
public record DeviceShape(
    long sizeBytes, int blockSizeBytes, Aggregator aggregator, boolean withSums, long pushBytes,
    List<MemorySegment> mirrors, IntFunction<MemorySegment> state, NanoClock clock, String name) {
    /** Returns the number of blocks in the shard. */
    public int blocks() {
        return Math.toIntExact(Math.ceilDiv(sizeBytes, blockSizeBytes));
    }

    /** Returns the length of a block in bytes. */
    public int lengthOf(int block) {
        return (int) Math.min(blockSizeBytes, sizeBytes - (long) block * blockSizeBytes);
    }
}
