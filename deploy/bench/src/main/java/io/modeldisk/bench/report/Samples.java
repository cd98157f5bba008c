package io.modeldisk.bench.report;

import io.modeldisk.platform.Arguments;
import java.util.Arrays;

/**
 * Repeated measurements of one figure.
 *
 * @param values at least one sample, in the order of measurement
 */
public record Samples(double... values) {
    /** Copies the values. */
    public Samples {
        Arguments.require(values.length != 0, "the list of samples is empty, but must contain at least one sample");
        values = values.clone();
    }

    /** Divides each sample by the sample of {@code others} with the same index. Returns the ratios. */
    public Samples over(Samples others) {
        Arguments.require(values.length == others.values.length,
            "two lists of samples have a ratio only if they are equally long, but they have " + values.length + " and "
                + others.values.length + " samples");
        double[] ratios = new double[values.length];
        Arrays.setAll(ratios, i -> values[i] / others.values[i]);
        return new Samples(ratios);
    }

    /** The median, or the mean of the two middle samples for an even number of samples. */
    public double median() {
        double[] sorted = Arrays.stream(values).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The smallest sample. */
    public double min() {
        return Arrays.stream(values).min().orElseThrow();
    }

    /** The largest sample. */
    public double max() {
        return Arrays.stream(values).max().orElseThrow();
    }

    /** Returns a copy of the samples. */
    @Override
    public double[] values() {
        return values.clone();
    }
}
