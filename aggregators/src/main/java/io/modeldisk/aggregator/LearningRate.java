package io.modeldisk.aggregator;

import java.util.ArrayList;
import java.util.List;

/**
 * The learning rate of an aggregator: the rate of its specification, or a later change of this rate, times the factor of a
 * schedule. A change holds from a certain round on, so all blocks of all shards use a rate for the same rounds.
 * Thread-safe. Reads allocate no memory.
 */
public final class LearningRate {
    /** The number of changes that are kept. If there were more, the oldest one that is kept holds for all earlier rounds. */
    public static final int MAX_CHANGES = 8;

    private static final Change[] NONE = {};

    private final float rate;
    private final Schedule schedule;
    /** In ascending order of rounds. */
    private volatile Change[] changes = NONE;

    /**
     * A rate that applies from a given round on.
     *
     * @param fromRound the first round with this rate
     * @param rate the rate before the factor of the schedule, above 0
     */
    public record Change(long fromRound, float rate) {
        /**
         * Creates a change.
         *
         * @throws IllegalArgumentException if the rate is not finite or not above 0
         */
        public Change {
            if (!Float.isFinite(rate) || rate <= 0) {
                throw new IllegalArgumentException("lr=" + rate + " must be a finite number above 0");
            }
        }
    }

    LearningRate(float rate, Schedule schedule) {
        this.rate = rate;
        this.schedule = schedule;
    }

    /** Returns the rate for an update in a round, from 1: at least 0. */
    public float at(long round) {
        return (float) (baseAt(round) * schedule.factor(round));
    }

    private float baseAt(long round) {
        Change[] all = changes;
        for (int i = all.length - 1; i >= 0; i--) {
            if (all[i].fromRound() <= round) {
                return all[i].rate();
            }
        }
        return rate;
    }

    /** Changes the rate. Changes of the same and of later rounds are dropped. */
    public synchronized void change(Change change) {
        List<Change> kept = new ArrayList<>();
        for (Change earlier : changes) {
            if (earlier.fromRound() < change.fromRound()) {
                kept.add(earlier);
            }
        }
        kept.add(change);
        if (kept.size() > MAX_CHANGES) {
            kept.removeFirst();
            kept.set(0, new Change(0, kept.getFirst().rate()));
        }
        restore(kept);
    }

    /** Returns the changes since the start: at most {@value #MAX_CHANGES}, in ascending order of rounds. */
    public List<Change> changes() {
        return List.of(changes);
    }

    /** Replaces all changes by the {@link #changes()} of another object. */
    public synchronized void restore(List<Change> earlier) {
        changes = earlier.toArray(Change[]::new);
    }
}
