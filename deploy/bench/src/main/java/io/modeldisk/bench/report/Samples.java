package io.modeldisk.bench.report;

import java.util.Arrays;

/** Repeated measurements of one figure. Immutable. */
public final class Samples {
    private final double[] values;
    private final double[] sorted;

    private Samples(double[] values) {
        this.values = values;
        this.sorted = values.clone();
        Arrays.sort(sorted);
    }

    /** Creates samples from at least one value, in the order of measurement. */
    public static Samples of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("the list of samples is empty, but must contain at least one sample");
        }
        return new Samples(values.clone());
    }

    /** Divides each sample by the sample of {@code others} with the same index. Returns the ratios. */
    public Samples over(Samples others) {
        if (values.length != others.values.length) {
            throw new IllegalArgumentException(
                "two lists of samples have a ratio only if they are equally long, but they have " + values.length
                    + " and "
                    + others.values.length + " samples");
        }
        double[] ratios = new double[values.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = values[i] / others.values[i];
        }
        return new Samples(ratios);
    }

    /** The median, or the mean of the two middle samples for an even number of samples. */
    public double median() {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The smallest sample. */
    public double min() {
        return sorted[0];
    }

    /** The largest sample. */
    public double max() {
        return sorted[sorted.length - 1];
    }

    /** All samples in the order of measurement. */
    public double[] values() {
        return values.clone();
    }
}
