package io.modeldisk.bench.report;

import java.util.Arrays;

/** Figures measured again and again. Immutable. */
public final class Samples {
    private final double[] values;
    private final double[] sorted;

    private Samples(double[] values) {
        this.values = values;
        this.sorted = values.clone();
        Arrays.sort(sorted);
    }

    /** At least one figure, in the order in which they were measured. */
    public static Samples of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("no figure was measured");
        }
        return new Samples(values.clone());
    }

    /** Each figure divided by the one that was measured beside it. */
    public Samples over(Samples others) {
        if (values.length != others.values.length) {
            throw new IllegalArgumentException(
                values.length + " figures have no ratio to " + others.values.length);
        }
        double[] ratios = new double[values.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = values[i] / others.values[i];
        }
        return new Samples(ratios);
    }

    /** The middle one; of an even number the mean of the two in the middle. */
    public double median() {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The least. */
    public double min() {
        return sorted[0];
    }

    /** The greatest. */
    public double max() {
        return sorted[sorted.length - 1];
    }

    /** All of them, in the order in which they were measured. */
    public double[] values() {
        return values.clone();
    }
}
