package io.modeldisk.bench.micro;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Measures some that do the same in turn, so that what disturbs the machine disturbs all of them. */
final class Turns {
    private static final double MOST_GROWTH = 50;

    private final int rounds;
    private final long runNanos;

    Turns(int rounds, long runMillis) {
        this.rounds = rounds;
        this.runNanos = TimeUnit.MILLISECONDS.toNanos(runMillis);
    }

    /** Makes so many requests with each client. */
    @FunctionalInterface
    interface Run {
        Outcome run(long requestsEach) throws IOException;
    }

    /** The outcomes of each, in their order, a list of all rounds each. */
    List<List<Outcome>> measure(List<Run> runs) throws IOException {
        long[] requests = new long[runs.size()];
        List<List<Outcome>> outcomes = new ArrayList<>();
        for (int i = 0; i < requests.length; i++) {
            requests[i] = warmUp(runs.get(i));
            outcomes.add(new ArrayList<>());
        }
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < requests.length; i++) {
                // The order changes from round to round.
                int turn = (i + round) % requests.length;
                outcomes.get(turn).add(runs.get(turn).run(requests[turn]));
            }
        }
        return outcomes;
    }

    /** Makes more and more requests until they take about as long as they are to; answers how many do. */
    private long warmUp(Run run) throws IOException {
        long requests = 1;
        Outcome outcome = run.run(requests);
        while (outcome.nanos() < runNanos / 2) {
            double growth = Math.min(MOST_GROWTH, (double) runNanos / Math.max(1, outcome.nanos()));
            requests = (long) Math.ceil(requests * growth);
            outcome = run.run(requests);
        }
        return Math.max(1, requests * runNanos / outcome.nanos());
    }
}
