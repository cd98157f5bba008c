package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A block in host memory, to which the aggregators of the CPU apply gradients. */
class HostBlock implements BlockMemory {
    final MemorySegment weights;
    final MemorySegment state;
    long round = 1;

    /** Creates a block with these weights and a state of zeros. */
    HostBlock(Arena arena, Aggregator aggregator, MemorySegment weights) {
        this.weights = weights;
        this.state = arena.allocate(weights.byteSize() / Aggregator.LOGICAL_BLOCK_BYTES
            * aggregator.stateBytesPerLogicalBlock() + 64, 64);
    }

    @Override
    public final MemorySegment weights() {
        return weights;
    }

    @Override
    public final MemorySegment state() {
        return state;
    }

    @Override
    public final long round() {
        return round;
    }
}
