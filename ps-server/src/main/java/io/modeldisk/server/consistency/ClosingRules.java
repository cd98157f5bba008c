package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Roster;
import java.util.List;

/**
 * Decides when the open round of a block closes in {@link Bsp}. The caller holds the lock of the block.
 *
 * <p><b>A round closes</b> if the job has formed (enough learners have joined) and every learner of the round has pushed the
 * whole block. A learner belongs to every round from its join round until the learner leaves. Gradients of learners that have
 * left still count. If all learners of the round have left, the round closes as soon as every logical block has a gradient, so
 * that no complete gradient is lost. If a logical block still has no gradient, the round stays open until a newcomer joins at a
 * later round. After that join, the round closes with the gradients that it has, and logical blocks without a gradient keep their
 * weights, so the weights of a block always include only whole rounds. Blocks may be in different rounds while learners push, and
 * after all learners have left. Learners that stay or join bring all blocks to one common round.
 *
 * <p><b>The job has stopped</b> if fewer learners than the minimum are left. In a stopped job, the open round of a block can
 * close if at least the minimum number of learners have pushed it or can still push it. Learners that have pushed it count even
 * if they have left, so a learner that finishes first does not block the last round of the other learners. If the open round can
 * no longer close, new pushes of the block, and pulls that would wait, are refused until enough learners have joined again.
 */
final class ClosingRules {
    private final Learners learners;

    ClosingRules(Learners learners) {
        this.learners = learners;
    }

    /** Returns whether the open round can close now. */
    boolean mayClose(RoundBlock block) {
        Roster<Learner> roster = learners.roster();
        return isComplete(block, roster) && !isStopped(block, roster);
    }

    /** Returns true if too few learners are left, and too few learners have pushed or can still push the open round. */
    boolean isStopped(RoundBlock block) {
        return isStopped(block, learners.roster());
    }

    /** Returns true if {@code round} (the open or a later one) may still get gradients, or if the open round has gradients. */
    boolean isAwaited(RoundBlock block, long round) {
        return firstRound() <= round || block.mostContributions() > 0;
    }

    /** The lowest round at which a current learner joined; 0 without learners. Earlier rounds get no more gradients. */
    long firstRound() {
        List<Learner> members = learners.roster().members();
        long first = members.isEmpty() ? 0 : Long.MAX_VALUE;
        for (int i = 0; i < members.size(); i++) {
            first = Math.min(first, members.get(i).joinRound());
        }
        return first;
    }

    private static boolean isComplete(RoundBlock block, Roster<Learner> roster) {
        List<Learner> members = roster.members();
        boolean anyTakesPart = false;
        for (int i = 0; i < members.size(); i++) {
            Learner learner = members.get(i);
            if (learner.joinRound() <= block.round()) {
                anyTakesPart = true;
                if (!hasPushed(learner, block)) {
                    return false;
                }
            }
        }
        return roster.formed() && (anyTakesPart || !members.isEmpty() || block.isCovered());
    }

    private boolean isStopped(RoundBlock block, Roster<Learner> roster) {
        if (!roster.tooFew()) {
            return false;
        }
        int pushers = block.leastContributions();
        List<Learner> members = roster.members();
        for (int i = 0; i < members.size(); i++) {
            Learner learner = members.get(i);
            if (learner.joinRound() <= block.round() && !hasPushed(learner, block)) {
                pushers++;
            }
        }
        return pushers < learners.minLearners();
    }

    private static boolean hasPushed(Learner learner, RoundBlock block) {
        return learner.marks().clock(block.block().index()) >= block.round();
    }
}
