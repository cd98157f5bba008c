package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.FloatKernels;
import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.server.block.Block;
import java.lang.foreign.MemorySegment;

/**
 * The sum of the gradients of a block, in the memory of the host or of a device. Guarded by the lock of the block. Offsets in the
 * block and lengths are multiples of 4096.
 */
interface RoundSum {
    /** Adds a gradient. If {@code first} is set, the gradient replaces the earlier sum of the range. */
    void add(
        int offset, MemorySegment data, long dataOffset, GradientType type, int lengthBytes, boolean first);

    /** Applies {@code scale} times a range of the sum to the weights of the block. */
    void apply(Block block, Aggregator aggregator, long round, int offset, int lengthBytes, float scale);

    /** Returns the sum for reading. For a sum on a device, waits for the device and allocates memory. */
    MemorySegment readable();

    /** Replaces the sum. */
    void load(MemorySegment memory, long start);

    /** A sum in host memory, as long as the block. */
    record OnHost(MemorySegment sum) implements RoundSum {
        @Override
        public void add(
            int offset, MemorySegment data, long dataOffset, GradientType type, int lengthBytes, boolean first) {
            if (type != GradientType.FLOAT32) {
                throw new IllegalArgumentException("type=" + type + " must be FLOAT32 on the host");
            }
            if (first) {
                MemorySegment.copy(data, dataOffset, sum, offset, lengthBytes);
            } else {
                FloatKernels.scaledAdd(sum, offset, data, dataOffset, lengthBytes, 1);
            }
        }

        @Override
        public void apply(Block block, Aggregator aggregator, long round, int offset, int lengthBytes, float scale) {
            block.apply(aggregator, round, offset, sum, offset, GradientType.FLOAT32, lengthBytes, scale);
        }

        @Override
        public MemorySegment readable() {
            return sum;
        }

        @Override
        public void load(MemorySegment memory, long start) {
            MemorySegment.copy(memory, start, sum, 0, sum.byteSize());
        }
    }

    /** The sum of a block on a device. */
    record OnDevice(DeviceBlocks device, int index, int lengthBytes) implements RoundSum {
        @Override
        public void add(
            int offset, MemorySegment data, long dataOffset, GradientType type, int addedBytes, boolean first) {
            device.accumulate(index, offset, data, dataOffset, type, addedBytes, first);
        }

        @Override
        public void apply(Block block, Aggregator aggregator, long round, int offset, int appliedBytes, float scale) {
            block.applySum(round, offset, appliedBytes, scale);
        }

        @Override
        public MemorySegment readable() {
            MemorySegment copy = MemorySegment.ofArray(new byte[lengthBytes]);
            device.loadSum(index, copy, 0);
            return copy;
        }

        @Override
        public void load(MemorySegment memory, long start) {
            device.storeSum(index, memory, start);
        }
    }
}
