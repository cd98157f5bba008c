package io.modeldisk.aggregator;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** Measures the speed of each method of {@link FloatKernels}. */
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(2)
public class FloatKernelsBenchmark {
    private static final float FACTOR = 1 / 3f;

    /** Computes {@code weights += gradient}. */
    @Benchmark
    public void add(Gradient gradient, Gigabytes moved) {
        FloatKernels.scaledAdd(gradient.block().weights(), 0, gradient.values(), 0, gradient.bytes, 1);
        moved.add(gradient.bytes);
    }

    /** Computes {@code weights += factor * gradient}. */
    @Benchmark
    public void scaledAdd(Gradient gradient, Gigabytes moved) {
        FloatKernels.scaledAdd(gradient.block().weights(), 0, gradient.values(), 0, gradient.bytes, FACTOR);
        moved.add(gradient.bytes);
    }

    /** Computes {@code weights = factor * gradient}. */
    @Benchmark
    public void scaledCopy(Gradient gradient, Gigabytes moved) {
        FloatKernels.scaledCopy(gradient.block().weights(), 0, gradient.values(), 0, gradient.bytes, FACTOR);
        moved.add(gradient.bytes);
    }

    /** Copies the gradient into the block, for comparison. */
    @Benchmark
    public void memcpy(Gradient gradient, Gigabytes copied) {
        gradient.copy();
        copied.add(gradient.bytes);
    }
}
