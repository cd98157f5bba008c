package io.modeldisk.bench.tuning;

import io.modeldisk.bench.report.Samples;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Chooses among measured values. */
final class Candidates {
    /** What another value must gain over the built-in one to take its place: less may be noise. */
    static final double LEAST_GAIN = 1.05;

    private Candidates() {}

    /**
     * A value and its figures.
     *
     * @param value what was set
     * @param figures in each round, more is better
     */
    record Measured(int value, Samples figures) {}

    /** The value with the greatest median; the built-in one unless another gains enough in the median of paired ratios. */
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
     * @param eager how long it takes when all of it travels with the command, in each round
     * @param rendezvous how long it takes when the target fetches it
     */
    record Push(int bytes, Samples eager, Samples rendezvous) {
        boolean isFasterEager() {
            return eager.over(rendezvous).median() <= 1;
        }
    }

    /** Up to which size a push is faster eagerly: the last before the first that is not; 0 if that is the first. */
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
