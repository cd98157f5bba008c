package io.modeldisk.server.status;

import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.RoundMarks;
import java.util.List;
import java.util.LongSummaryStatistics;

/** The progress of a learner over all blocks of a shard, and the number of rounds by which it is behind other learners. */
final class LearnerClock {
    private final Learner learner;
    private final LongSummaryStatistics rounds = new LongSummaryStatistics();
    private boolean hasRounds;
    private long roundsBehind;
    private long missingRound = Long.MAX_VALUE;

    LearnerClock(Learner learner) {
        this.learner = learner;
    }

    /** Adds the progress of one block to each clock. The caller holds the lock of the block. */
    static void look(List<LearnerClock> clocks, int block) {
        long furthest = 0;
        for (LearnerClock clock : clocks) {
            furthest = Math.max(furthest, clock.finishedRound(block));
        }
        for (LearnerClock clock : clocks) {
            clock.look(block, furthest);
        }
    }

    private void look(int block, long furthest) {
        RoundMarks marks = learner.marks();
        rounds.accept(marks.clock(block));
        long finished = finishedRound(block);
        hasRounds |= marks.finishedRound(block) > 0;
        if (finished < furthest) {
            roundsBehind = Math.max(roundsBehind, furthest - finished);
            missingRound = Math.min(missingRound, finished + 1);
        }
    }

    private long finishedRound(int block) {
        return learner.finishedRound(block);
    }

    Learner learner() {
        return learner;
    }

    /** The last round that the learner has pushed completely: the minimum and the maximum over all blocks. */
    LongSummaryStatistics rounds() {
        return rounds;
    }

    /** Returns whether the learner has finished a round of a block. Under asp, only pushes with a round number finish rounds. */
    boolean hasRounds() {
        return hasRounds;
    }

    /** The number of rounds by which the learner is behind the furthest learner, in the block with the largest such number. */
    long roundsBehind() {
        return roundsBehind;
    }

    /** The lowest round that another learner has finished in some block, but this learner has not finished in that block. */
    long missingRound() {
        return missingRound;
    }
}
