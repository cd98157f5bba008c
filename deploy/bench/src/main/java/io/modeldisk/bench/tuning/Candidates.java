package io.modeldisk.bench.tuning;

import io.modeldisk.bench.report.Samples;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Chooses among measured sizes. */
final class Candidates {
    /** The gain over the built-in size that a candidate needs; less may be noise. */
    static final double LEAST_GAIN = 1.05;

    private Candidates() {}

    /**
     * A candidate and its throughput.
     *
     * @param value the size
     * @param figures the throughput in each round
     */
    record Measured(int value, Samples figures) {}

    /** The candidate with the greatest median, if the median of its paired gains is large enough; else the built-in size. */
    static int best(List<Measured> measured, int builtIn) {
        ToDoubleFunction<Measured> median = one -> one.figures().median();
        Measured best = measured.getFirst();
        Measured usual = null;
        for (Measured one : measured) {
            best = median.applyAsDouble(one) > median.applyAsDouble(best) ? one : best;
            usual = one.value() == builtIn ? one : usual;
        }
        boolean gains = usual == null || best.figures().over(usual.figures()).median() >= LEAST_GAIN;
        return gains ? best.value() : builtIn;
    }

    /**
     * One size of a push.
     *
     * @param bytes its size
     * @param eager the latency in each round if all data travels with the command
     * @param rendezvous the latency in each round if the target fetches the data
     */
    record Push(int bytes, Samples eager, Samples rendezvous) {
        boolean isFasterEager() {
            return eager.over(rendezvous).median() <= 1;
        }
    }

    /** The largest size before the first one whose eager push is slower; 0 if that is the smallest size. */
    static int threshold(List<Push> ascending) {
        int threshold = 0;
        for (Push push : ascending) {
            if (!push.isFasterEager()) {
                break;
            }
            threshold = push.bytes();
        }
        return threshold;
    }
}
