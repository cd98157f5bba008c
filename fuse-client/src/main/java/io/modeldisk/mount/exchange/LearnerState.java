package io.modeldisk.mount.exchange;

import java.io.IOException;

/**
 * The state of the learner that has the model open, and of its current iteration. Guarded by the lock {@code turn} of {@link
 * BufferedExchange}. The volatile fields can be read without this lock.
 */
final class LearnerState {
    /** True while a learner has the model open. */
    boolean learning;
    /** True if the learner maps the buffers. */
    boolean mapped;
    /** The number of the iteration, from 1. */
    volatile long iteration = 1;
    /** The round of the gradient that the learner computes now; 0 without a learner. */
    volatile long round;
    /** True if the last fsync has not ended its iteration, so the next fsync must end this iteration. */
    boolean unfinished;
    /** True if the current fsync has a gradient to push, or repeats an interrupted fsync that had a gradient to push. */
    boolean pushing;
    /**
     * True if the learner has computed without valid weights, and the fsync that pulls the missing weights has not completed. The
     * next fsync then fails, and the gradient is discarded.
     */
    boolean weightsMissed;
    /** The total outcome of all drops since the last fsync. A repeated drop reports this total again. */
    Dropped dropped = Dropped.NOTHING;
    /**
     * The reason why a gradient was discarded after a shard had gone back. The next fsync or drop reports this reason. Null if
     * there is nothing to report.
     */
    IOException rollback;

    /** Resets the state for a new learner: iteration 1, and no failure to report. */
    void opened(boolean learner, boolean maps, long firstRound) {
        learning = learner;
        mapped = maps;
        iteration = 1;
        round = firstRound;
        unfinished = false;
        weightsMissed = false;
        dropped = Dropped.NOTHING;
        rollback = null;
    }

    ExchangeImage.Learner image() {
        return new ExchangeImage.Learner(learning, mapped, iteration, round, unfinished, weightsMissed, dropped,
            rollback != null);
    }

    /** Takes over the state of the learner in another process. */
    void resume(ExchangeImage.Learner image) {
        learning = image.learning();
        mapped = image.mapped();
        iteration = image.iteration();
        round = image.round();
        unfinished = image.unfinished();
        weightsMissed = image.weightsMissed();
        dropped = image.dropped();
        rollback = image.rollback() ? OnRollback.untold() : null;
    }

    void left() {
        learning = false;
        mapped = false;
        round = 0;
    }

    /** Throws {@link #rollback} if it is not null. */
    void checkNotBack() throws IOException {
        if (rollback != null) {
            throw rollback;
        }
    }
}
