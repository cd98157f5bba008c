package io.modeldisk.bench.micro;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Measures several variants in alternation, so that other load on the machine affects all variants equally. */
final class Turns {
    private static final double MOST_GROWTH = 50;

    private final int rounds;
    private final long runNs;

    Turns(int rounds, long runMs) {
        this.rounds = rounds;
        this.runNs = TimeUnit.MILLISECONDS.toNanos(runMs);
    }

    /** Runs one variant. Each client of the variant sends {@code requestsEach} requests. */
    @FunctionalInterface
    interface Run {
        Outcome run(long requestsEach) throws IOException;
    }

    /** Measures all variants. Returns the outcomes of all rounds for each variant, in the order of {@code runs}. */
    List<List<Outcome>> measure(List<Run> runs) throws IOException {
        long[] requests = new long[runs.size()];
        List<List<Outcome>> outcomes = new ArrayList<>();
        for (int i = 0; i < requests.length; i++) {
            requests[i] = warmUp(runs.get(i));
            outcomes.add(new ArrayList<>());
        }
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < requests.length; i++) {
                // Each round starts one variant later than the previous round.
                int turn = (i + round) % requests.length;
                outcomes.get(turn).add(runs.get(turn).run(requests[turn]));
            }
        }
        return outcomes;
    }

    /**
     * Increases the number of requests until a run takes at least half the planned time. Returns the estimated number of
     * requests of a run that takes the planned time.
     */
    private long warmUp(Run run) throws IOException {
        long requests = 1;
        Outcome outcome = run.run(requests);
        while (outcome.nanos() < runNs / 2) {
            double growth = Math.min(MOST_GROWTH, (double) runNs / Math.max(1, outcome.nanos()));
            requests = (long) Math.ceil(requests * growth);
            outcome = run.run(requests);
        }
        return Math.max(1, requests * runNs / outcome.nanos());
    }
}
