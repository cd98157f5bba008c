package io.modeldisk.mount.exchange;

import java.io.IOException;

/**
 * The state of the learner that has the model open, and of its iteration. Guarded by the turn of the {@link BufferedExchange};
 * the volatile fields may be read without it.
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
    /** True if the last fsync has not ended its iteration, so the next fsync repeats it. */
    boolean unfinished;
    /** True if the fsync, or the one that it repeats, has a gradient to push. */
    boolean pushing;
    /** True if an interrupted fsync has pulled weights that the learner did not have, so its repetition fails. */
    boolean weightsMissed;
    /** The bytes that the drops since the last fsync have given up. The repetition of an interrupted drop reports them again. */
    Dropped dropped = Dropped.NOTHING;
    /**
     * The reason why a gradient was discarded after a shard had gone back, which the next fsync or drop reports; null if none
     * was.
     */
    IOException rollback;

    /** Begins with iteration 1, without a failure to report. */
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

    /** Throws the rollback that the next fsync or drop reports. */
    void checkNotBack() throws IOException {
        if (rollback != null) {
            throw rollback;
        }
    }
}
