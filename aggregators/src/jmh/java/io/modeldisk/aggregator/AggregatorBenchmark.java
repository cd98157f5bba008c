package io.modeldisk.aggregator;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the speed at which each aggregator applies a gradient to a block. {@code discard} measures only the time of the call.
 */
@State(Scope.Thread)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(2)
public class AggregatorBenchmark {
    private final Aggregator sgd = Aggregators.parse("sgd:lr=0.1");
    private final Aggregator sum = Aggregators.parse("sum");
    private final Aggregator assign = Aggregators.parse("assign");
    private final Aggregator discard = Aggregators.parse("null");

    private static void aggregate(Aggregator aggregator, Gradient gradient, Gigabytes folded) {
        aggregator.aggregate(gradient.block(), 0, gradient.values(), 0, gradient.bytes, 1);
        folded.add(gradient.bytes);
    }

    /** Subtracts a tenth of the gradient from the weights. */
    @Benchmark
    public void sgd(Gradient gradient, Gigabytes folded) {
        aggregate(sgd, gradient, folded);
    }

    /** Adds the gradient to the weights. */
    @Benchmark
    public void sum(Gradient gradient, Gigabytes folded) {
        aggregate(sum, gradient, folded);
    }

    /** Overwrites the weights with the gradient. */
    @Benchmark
    public void assign(Gradient gradient, Gigabytes folded) {
        aggregate(assign, gradient, folded);
    }

    /** Calls the aggregator {@code null}, which discards the gradient. */
    @Benchmark
    public void discard(Gradient gradient, Gigabytes folded) {
        aggregate(discard, gradient, folded);
    }

    /** Copies the gradient into the block, for comparison. */
    @Benchmark
    public void memcpy(Gradient gradient, Gigabytes copied) {
        gradient.copy();
        copied.add(gradient.bytes);
    }
}
