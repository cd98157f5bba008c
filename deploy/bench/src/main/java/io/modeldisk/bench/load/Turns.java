package io.modeldisk.bench.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Measures several variants in turn, so other load on the machine affects all variants equally. */
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
        /** Measures a run in which each client sends {@code requests} requests. */
        Measured run(long requests) throws IOException;
    }

    /** A measurement that decides itself how many requests it sends. */
    @FunctionalInterface
    public interface Once<T> {
        /** Measures once. */
        T run() throws IOException;
    }

    /**
     * Measures all variants.
     *
     * @param least the least number of requests of a run
     * @return the measurements of all rounds for each variant, in the order of the variants
     */
    public <K> Map<K, List<Measured>> measure(long least, Map<K, Run> variants) throws IOException {
        Map<K, Once<Measured>> runs = new LinkedHashMap<>();
        for (Map.Entry<K, Run> variant : variants.entrySet()) {
            long requests = warmUp(least, variant.getValue());
            runs.put(variant.getKey(), () -> variant.getValue().run(requests));
        }
        return repeat(rounds, runs);
    }

    /** Calls all variants in each round. The first variant of a round is the second variant of the previous round. */
    public static <K, T> Map<K, List<T>> repeat(int rounds, Map<K, Once<T>> variants) throws IOException {
        List<K> names = List.copyOf(variants.keySet());
        Map<K, List<T>> found = new LinkedHashMap<>();
        names.forEach(name -> found.put(name, new ArrayList<>()));
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < names.size(); i++) {
                K turn = names.get((i + round) % names.size());
                found.get(turn).add(variants.get(turn).run());
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
