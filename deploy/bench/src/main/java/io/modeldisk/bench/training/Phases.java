package io.modeldisk.bench.training;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import java.util.EnumMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The phases of one learner's iterations, read from the learner's trace. */
final class Phases {
    private final Map<Phase, NavigableMap<Long, long[]>> spans = new EnumMap<>(Phase.class);
    private final long firstIteration;
    private final int pullLag;

    /**
     * Reads the phases of a trace.
     *
     * @param firstIteration the number of the first counted iteration
     */
    Phases(IterationTrace trace, ExchangeScheme exchange, long firstIteration) {
        this.firstIteration = firstIteration;
        // The number of iterations between the pull of weights and the computation with these weights.
        this.pullLag = switch (exchange) {
            case DIRECT -> 0;
            case SYNC -> 1;
            case OVERLAP -> 2;
        };
        for (Phase phase : Phase.values()) {
            spans.put(phase, new TreeMap<>());
        }
        trace
            .forEach((phase, iteration, startNs, endNs) -> spans.get(phase).put(iteration, new long[]{startNs, endNs}));
    }

    /** The mean duration of a phase over the counted iterations that contain the phase; 0 if no iteration contains it. */
    double meanNs(Phase phase) {
        return spans.get(phase).tailMap(firstIteration, true).values().stream().mapToLong(span -> span[1] - span[0])
            .average().orElse(0);
    }

    /** The mean age of the weights at the start of the computation. */
    double meanAgeNs() {
        return spans.get(Phase.COMPUTE).tailMap(firstIteration, true).entrySet().stream()
            .filter(compute -> pull(compute.getKey()) != null)
            .mapToLong(compute -> compute.getValue()[0] - pull(compute.getKey())[0]).average().orElse(0);
    }

    private long[] pull(long iteration) {
        return spans.get(Phase.PULL).get(iteration - pullLag);
    }
}
