package io.modeldisk.bench.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Measures several variants in turn, so that other load on the machine affects all variants equally. */
public final class Turns {
    private static final double MOST_GROWTH = 50;

    private final int rounds;
    private final long runNs;

    /**
     * Creates a measurement.
     *
     * @param rounds the number of runs of each variant
     * @param runMs the approximate duration of a run
     */
    public Turns(int rounds, long runMs) {
        this.rounds = rounds;
        this.runNs = TimeUnit.MILLISECONDS.toNanos(runMs);
    }

    /** A measured variant. */
    @FunctionalInterface
    public interface Run {
        /** Sends a number of requests, each client this number. */
        Measured run(long requests) throws IOException;
    }

    /**
     * Measures all variants.
     *
     * @param least the least number of requests of a run
     * @return the measurements of all rounds for each variant, in the order of the variants
     */
    public <K> Map<K, List<Measured>> measure(long least, Map<K, Run> variants) throws IOException {
        List<K> names = List.copyOf(variants.keySet());
        long[] requests = new long[names.size()];
        Map<K, List<Measured>> found = new LinkedHashMap<>();
        for (int i = 0; i < requests.length; i++) {
            requests[i] = warmUp(least, variants.get(names.get(i)));
            found.put(names.get(i), new ArrayList<>());
        }
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < requests.length; i++) {
                // Each round starts one variant later than the previous round.
                int turn = (i + round) % requests.length;
                found.get(names.get(turn)).add(variants.get(names.get(turn)).run(requests[turn]));
            }
        }
        return found;
    }

    /**
     * Increases the number of requests until a run takes at least half the planned time. Returns the estimated number of
     * requests of a run that takes the planned time.
     */
    private long warmUp(long least, Run variant) throws IOException {
        long requests = least;
        Measured measured = variant.run(requests);
        while (measured.nanos() < runNs / 2) {
            double growth = Math.min(MOST_GROWTH, (double) runNs / Math.max(1, measured.nanos()));
            requests = (long) Math.ceil(requests * growth);
            measured = variant.run(requests);
        }
        return Math.max(least, (long) (requests * ((double) runNs / measured.nanos())));
    }
}
