package io.modeldisk.bench.tuning;

import io.modeldisk.bench.report.Samples;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Chooses the best transfer size from measurements. */
final class Candidates {
    /** The minimum ratio of a candidate's throughput to that of the built-in size. A smaller gain may be noise. */
    static final double LEAST_GAIN = 1.05;

    private Candidates() {}

    /**
     * A candidate and its throughput.
     *
     * @param value the size
     * @param figures the throughput in each round
     */
    record Measured(int value, Samples figures) {}

    /**
     * Returns the candidate with the largest median throughput if its gain over the built-in size is at least
     * {@link #LEAST_GAIN}. Otherwise returns the built-in size. The gain is the median of the ratios of all rounds.
     */
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
     * The measured latencies of pushes of one size.
     *
     * @param bytes the size of a push
     * @param eager the latency in each round if all data is sent with the command
     * @param rendezvous the latency in each round if the target fetches the data
     */
    record Push(int bytes, Samples eager, Samples rendezvous) {
        boolean isFasterEager() {
            return eager.over(rendezvous).median() <= 1;
        }
    }

    /**
     * Returns the eager threshold. Up to this size, a push whose data is sent with the command is not slower than a push whose
     * data the target fetches. Returns 0 if the smallest push does not meet this condition.
     */
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
