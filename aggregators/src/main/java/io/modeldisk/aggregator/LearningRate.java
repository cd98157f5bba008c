package io.modeldisk.aggregator;

import java.util.ArrayList;
import java.util.List;

/**
 * The learning rate of an aggregator, which is a base rate times the factor of a schedule. The specification of the aggregator
 * sets the initial base rate. A change applies from a given round on, so all blocks of all shards change their rate in the same
 * round. Thread-safe. Reads allocate no memory.
 */
public final class LearningRate {
    /** The maximum number of kept changes. After more changes, the oldest kept change applies to all earlier rounds too. */
    public static final int MAX_CHANGES = 8;

    private static final Change[] NONE = {};

    private final float rate;
    private final Schedule schedule;
    /** The changes in ascending order of rounds. */
    private volatile Change[] changes = NONE;

    /**
     * A change of the base rate, which applies from a given round on.
     *
     * @param fromRound the first round with this rate
     * @param rate the base rate, without the factor of the schedule; above 0
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

    /** Returns the learning rate in a round, which is at least 0. Rounds are counted from 1. */
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

    /** Changes the base rate. Earlier changes for the same round or for later rounds are discarded. */
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

    /** Returns the kept changes in ascending order of rounds. */
    public List<Change> changes() {
        return List.of(changes);
    }

    /** Replaces all changes with {@code earlier}, the {@link #changes()} of another object. */
    public synchronized void restore(List<Change> earlier) {
        changes = earlier.toArray(Change[]::new);
    }
}
