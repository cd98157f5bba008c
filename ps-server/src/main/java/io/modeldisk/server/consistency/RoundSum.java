package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.server.block.Block;
import java.lang.foreign.MemorySegment;

/**
 * The sum of the gradients of a block, in the memory of the host or of a device. Guarded by the lock of the block. Offsets in the
 * block and lengths are multiples of 4096.
 */
interface RoundSum {
    /** Adds a gradient. If {@code first} is set, the gradient replaces the earlier sum of the range. */
    void add(int offset, MemorySegment data, long dataOffset, int lengthBytes, boolean first);

    /** Applies {@code scale} times a range of the sum to the weights of the block. */
    void apply(Block block, Aggregator aggregator, long round, int offset, int lengthBytes, float scale);

    /** Copies the sum to {@code memory}. */
    void save(MemorySegment memory, long start);

    /** Replaces the sum by what {@link #save} has copied. */
    void load(MemorySegment memory, long start);

    /** A sum in host memory, which has the length of the block. */
    record OnHost(MemorySegment sum) implements RoundSum {
        @Override
        public void add(int offset, MemorySegment data, long dataOffset, int lengthBytes, boolean first) {
            if (first) {
                MemorySegment.copy(data, dataOffset, sum, offset, lengthBytes);
            } else {
                FloatSum.add(sum, offset, data, dataOffset, lengthBytes);
            }
        }

        @Override
        public void apply(Block block, Aggregator aggregator, long round, int offset, int lengthBytes, float scale) {
            block.apply(aggregator, round, offset, sum, offset, lengthBytes, scale);
        }

        @Override
        public void save(MemorySegment memory, long start) {
            MemorySegment.copy(sum, 0, memory, start, sum.byteSize());
        }

        @Override
        public void load(MemorySegment memory, long start) {
            MemorySegment.copy(memory, start, sum, 0, sum.byteSize());
        }
    }

    /** The sum of a block on a device. */
    record OnDevice(DeviceBlocks device, int index) implements RoundSum {
        @Override
        public void add(int offset, MemorySegment data, long dataOffset, int lengthBytes, boolean first) {
            device.accumulate(index, offset, data, dataOffset, lengthBytes, first);
        }

        @Override
        public void apply(Block block, Aggregator aggregator, long round, int offset, int lengthBytes, float scale) {
            block.applySum(round, offset, lengthBytes, scale);
        }

        @Override
        public void save(MemorySegment memory, long start) {
            device.loadSum(index, memory, start);
        }

        @Override
        public void load(MemorySegment memory, long start) {
            device.storeSum(index, memory, start);
        }
    }
}
