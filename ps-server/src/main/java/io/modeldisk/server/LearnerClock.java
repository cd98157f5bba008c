package io.modeldisk.server;

import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.RoundMarks;
import java.util.List;

/** The progress of a learner in the blocks that were looked at, and its distance to the learner that is furthest in each. */
final class LearnerClock {
    private final Learner learner;
    private final MinMax rounds = new MinMax();
    private boolean hasRounds;
    private long roundsBehind;
    private long missingRound = Long.MAX_VALUE;

    LearnerClock(Learner learner) {
        this.learner = learner;
    }

    /** Looks at one block of all learners; it is locked. */
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
        rounds.add(marks.clock(block));
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

    /** The rounds that it has pushed in full: the least and the greatest number of a block. */
    MinMax rounds() {
        return rounds;
    }

    /** Whether it has pushed a round; a learner that writes without rounds under asp has not. */
    boolean hasRounds() {
        return hasRounds;
    }

    /** The rounds that it lacks in the block where it is furthest behind. */
    long roundsBehind() {
        return roundsBehind;
    }

    /** The first round that another has pushed in some block and this learner has not. */
    long missingRound() {
        return missingRound;
    }
}
