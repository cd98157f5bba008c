package io.modeldisk.gradient;

import java.util.SplittableRandom;

/**
 * A gradient of one learner, and its fate. All values of a logical block are equal, so the weights show if only a part of a block
 * was applied. The values are positive multiples of 6, so that sums, and means over 2 or 3 learners, are exact in float32.
 */
final class Gradient {
    /** The effect of a gradient on the weights, as far as its learner can know the effect. */
    enum Fate {
        /** The effect is not known yet. */
        OPEN,
        /** The shards have applied the whole gradient. */
        COUNTED,
        /** The gradient uses a round of the learner, but the shards have left the gradient out, because it is not finite. */
        LEFT_OUT,
        /**
         * The learner has dropped the gradient. The gradient uses a round, and the shards have applied {@link #acceptedBytes}
         * bytes of it.
         */
        DROPPED,
        /** The shards have applied nothing of the gradient, and the next gradient uses its round. */
        NOTHING
    }

    /** The limit of the values of a float32 gradient, divided by 6. It keeps the sum of all gradients of a test below 2^24. */
    static final int FLOAT32_VALUES = 1 << 15;
    /**
     * The limit of the values of a bfloat16 gradient, divided by 6. It keeps each value below 2^8, so each value is exact in
     * bfloat16.
     */
    static final int BFLOAT16_VALUES = 43;

    final int number;
    final boolean finite;
    /** The range of logical blocks that the learner writes. */
    final int from;
    final int end;
    private final int values;
    private final long seed;
    private Fate fate = Fate.OPEN;
    private long acceptedBytes;

    Gradient(int number, int from, int end, boolean finite, int values, long seed) {
        this.values = values;
        this.number = number;
        this.from = from;
        this.end = end;
        this.finite = finite;
        this.seed = seed;
    }

    boolean has(int logicalBlock) {
        return from <= logicalBlock && logicalBlock < end;
    }

    /** Returns the value of the elements in a logical block; 0 if the gradient does not contain the block. */
    float value(int logicalBlock) {
        return has(logicalBlock) ? 6f * new SplittableRandom(seed + logicalBlock).nextInt(1, values) : 0;
    }

    Fate fate() {
        return fate;
    }

    void becomes(Fate now) {
        if (fate != Fate.OPEN || now == Fate.OPEN) {
            throw new AssertionError(this + " cannot become " + now);
        }
        fate = now;
    }

    void dropped(long bytes) {
        becomes(Fate.DROPPED);
        acceptedBytes = bytes;
    }

    long acceptedBytes() {
        return acceptedBytes;
    }

    boolean hasRound() {
        return fate == Fate.COUNTED || fate == Fate.LEFT_OUT || fate == Fate.DROPPED;
    }

    @Override
    public String toString() {
        return "gradient " + number + (finite ? "" : " (not finite)") + " " + fate
            + (fate == Fate.DROPPED ? " " + acceptedBytes : "");
    }
}
