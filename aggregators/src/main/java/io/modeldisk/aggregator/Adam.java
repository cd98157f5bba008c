package io.modeldisk.aggregator;

import static io.modeldisk.aggregator.Aggregator.LOGICAL_BLOCK_BYTES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Adam and AdamW. The state of a block has three parts: the moving averages of the gradients, the moving averages of their
 * squares, and the number of updates of each logical block, as 64-bit integers. The moving averages begin at 0, so the first
 * ones are too small. The number of updates determines the correction.
 */
final class Adam {
    private Adam() {}

    /** Updates a range of weights of one block, for {@link Optimizer#aggregate}. */
    static void update(
        Formula.Adam formula, MemorySegment weights, MemorySegment state, long offset, MemorySegment gradient,
        long gradientOffset, long lengthBytes, float factor, float rate) {
        long counters = 2 * weights.byteSize();
        long done = 0;
        while (done < lengthBytes) {
            long updates = count(state, counters, offset + done);
            long end = done + LOGICAL_BLOCK_BYTES;
            while (end < lengthBytes && count(state, counters, offset + end) == updates) {
                end += LOGICAL_BLOCK_BYTES;
            }
            for (long at = done; at < end; at += LOGICAL_BLOCK_BYTES) {
                state.set(ValueLayout.JAVA_LONG, counter(counters, offset + at), updates + 1);
            }
            OptimizerKernels.adam(formula, weights, state, offset + done, gradient, gradientOffset + done, end - done,
                factor, rate, updates + 1);
            done = end;
        }
    }

    private static long count(MemorySegment state, long counters, long offset) {
        return state.get(ValueLayout.JAVA_LONG, counter(counters, offset));
    }

    private static long counter(long counters, long offset) {
        return counters + offset / LOGICAL_BLOCK_BYTES * Long.BYTES;
    }
}
