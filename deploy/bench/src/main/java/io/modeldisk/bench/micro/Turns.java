package io.modeldisk.bench.micro;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Measures several sides in turn, so that other load of the machine affects all alike. */
final class Turns {
    private static final double MOST_GROWTH = 50;

    private final int rounds;
    private final long runNs;

    Turns(int rounds, long runMs) {
        this.rounds = rounds;
        this.runNs = TimeUnit.MILLISECONDS.toNanos(runMs);
    }

    /** Sends this many requests with each client. */
    @FunctionalInterface
    interface Run {
        Outcome run(long requestsEach) throws IOException;
    }

    /** For each side, in their order, the outcomes of all rounds. */
    List<List<Outcome>> measure(List<Run> runs) throws IOException {
        long[] requests = new long[runs.size()];
        List<List<Outcome>> outcomes = new ArrayList<>();
        for (int i = 0; i < requests.length; i++) {
            requests[i] = warmUp(runs.get(i));
            outcomes.add(new ArrayList<>());
        }
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < requests.length; i++) {
                // The order is reversed in every round.
                int turn = (i + round) % requests.length;
                outcomes.get(turn).add(runs.get(turn).run(requests[turn]));
            }
        }
        return outcomes;
    }

    /** Increases the number of requests until they take about the requested time; returns that number. */
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
