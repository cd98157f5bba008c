package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Roster;
import java.util.List;

/**
 * When the open round of a block closes in {@link Bsp}. Asked with the block locked.
 *
 * <p><b>When a round closes.</b> Once the job has formed, a block's open round closes when every learner that takes part in it
 * (it joined at that round or before, and has not left) has pushed the whole block. The contributions of a learner that has left
 * since count. If all learners of the round have left, it closes as soon as every logical block has a contribution, so that no
 * complete gradient is lost. Otherwise it stays open until a newcomer, which takes part from a later round on, needs it closed:
 * then it closes with the contributions there are, and logical blocks without one keep their weights. So the weights of a block
 * always are those of a whole number of rounds. While a round is under way, blocks may be in different rounds, and they stay so
 * if all learners leave in the middle of it. Learners that stay, or join, bring all blocks to the same round.
 *
 * <p><b>When the job has stopped.</b> With too few learners left, a round closes only if at least the minimum number of learners
 * have pushed it, including learners that have left: a learner that finishes first does not spoil the last round of the others.
 * Other pushes are refused, and so is every wait, until there are enough learners again.
 */
final class ClosingRules {
    private final Learners learners;

    ClosingRules(Learners learners) {
        this.learners = learners;
    }

    /** Whether the open round can close now. */
    boolean mayClose(RoundBlock block) {
        Roster<Learner> roster = learners.roster();
        return isComplete(block, roster) && !isStopped(block, roster);
    }

    /** Whether too few learners are left, and the open round can no longer get enough contributions. */
    boolean isStopped(RoundBlock block) {
        return isStopped(block, learners.roster());
    }

    /** The first round that any learner takes part in: earlier rounds get no contributions. 0 without learners. */
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
