package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.device.GradientType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The layout of a descriptor: one element of the array {@code folds}, from which the kernels read one range of one block. */
final class FoldDescriptor {
    static final int BYTES = 64;
    /** The size of a vector. The kernels load and store 128 bits at a time. */
    static final int VECTOR_BYTES = 16;

    private static final ValueLayout.OfLong ADDRESS = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private FoldDescriptor() {}

    /** Writes the device addresses at which the range starts in weights, gradient and state, and its number of vectors. */
    static void range(
        MemorySegment folds, int index, long weights, long gradient, long state, long squares, long lengthBytes) {
        long at = (long) index * BYTES;
        folds.set(ADDRESS, at, weights);
        folds.set(ADDRESS, at + 8, gradient);
        folds.set(ADDRESS, at + 16, state);
        folds.set(ADDRESS, at + 24, squares);
        folds.set(INT, at + 32, (int) (lengthBytes / VECTOR_BYTES));
    }

    /** Writes the factors with which a fold computes. */
    static void factors(MemorySegment folds, int index, float factor, float negatedRate, float root, float shrink) {
        long at = (long) index * BYTES;
        folds.set(FLOAT, at + 36, factor);
        folds.set(FLOAT, at + 40, negatedRate);
        folds.set(FLOAT, at + 44, root);
        folds.set(FLOAT, at + 48, shrink);
    }

    /**
     * Writes the type of a gradient into its descriptors, from {@code first} up to but not including {@code end}. Only the first
     * descriptor gets the number of logical blocks and the number of descriptors of the gradient.
     */
    static void gradient(MemorySegment folds, int first, int end, GradientType type, long lengthBytes) {
        for (int i = first; i < end; i++) {
            long at = (long) i * BYTES;
            folds.set(INT, at + 52, type.ordinal());
            folds.set(INT, at + 56, i == first ? (int) (lengthBytes / Aggregator.LOGICAL_BLOCK_BYTES) : 0);
            folds.set(INT, at + 60, i == first ? end - first : 0);
        }
    }

    /** Writes the type of a gradient that is added to a sum, and whether it is the first gradient of a round. */
    static void accumulation(MemorySegment folds, int index, GradientType type, boolean first) {
        long at = (long) index * BYTES;
        folds.set(INT, at + 52, type.ordinal());
        folds.set(INT, at + 56, first ? 1 : 0);
    }
}
