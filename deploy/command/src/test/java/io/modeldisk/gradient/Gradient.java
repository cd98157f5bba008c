package io.modeldisk.gradient;

import java.util.SplittableRandom;

/**
 * A gradient of one learner, and what has become of it. All values of a logical block are equal, so a part of the gradient in the
 * weights shows. The values are positive multiples of 6: sums and the means of 2 or 3 learners are exact in float32.
 */
final class Gradient {
    /** A gradient, as its learner knows it. */
    enum Fate {
        /** The learner does not know it yet. */
        OPEN,
        /** The shards have the whole gradient. */
        COUNTED,
        /** The learner has its round, without a gradient. */
        LEFT_OUT,
        /** The learner has dropped the gradient: the shards have {@link #acceptedBytes} of it. */
        DROPPED,
        /** The shards have nothing of it, and the next gradient has its round. */
        NOTHING
    }

    /** Keeps the sum of all gradients of a test below 2^24. */
    static final int FLOAT32_VALUES = 1 << 15;
    /** Keeps each value below 2^8, so bfloat16 has it. */
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

    /** Returns the value of the elements in a logical block; 0 if the gradient does not have the block. */
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
