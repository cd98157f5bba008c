package io.modeldisk.server.consistency;

import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** The rules by which pushes and pulls are refused, and the sense of each refusal. PROTOCOL.md states them. */
final class RoundRules {
    static final Sense NO_LEARNER = RoundSense.NO_LEARNER.sense();
    static final Sense NOT_IN_ROUND = RoundSense.NOT_IN_ROUND.sense();
    static final Sense TOO_FEW_LEARNERS = RoundSense.TOO_FEW_LEARNERS.sense();

    private RoundRules() {}

    /** The learner that pushes. A push without a round makes the nexus a learner; one with a round needs a JOIN before. */
    static Learner learner(Learners membership, IoTask task)
        throws ScsiException {
        if (task.round() == IoTask.IMPLIED_ROUND) {
            return membership.admit(task.nexus(), false);
        }
        Learner member = membership.member(task.nexus());
        if (member == null) {
            throw new ScsiException(NO_LEARNER, task.nexus().learner() + " pushes round " + task.round()
                + " and is not a learner; JOIN must come first");
        }
        return member;
    }

    /** The refusal of a push of a round that the learner is not in, or that was closed without it. */
    static ScsiException notInRound(Learner member, long round, int block) {
        return new ScsiException(NOT_IN_ROUND, member.key().learner() + " pushes round " + round + " of block " + block
            + ", which closes without it; it takes part from round " + member.joinRound() + " on");
    }

    /** Refuses a push or a wait if too few learners are left. */
    static void checkEnough(Learners membership) throws ScsiException {
        if (membership.roster().tooFew()) {
            throw tooFew(membership);
        }
    }

    /** The refusal of a push or a wait for which too few learners are left. */
    static ScsiException tooFew(Learners membership) {
        return new ScsiException(TOO_FEW_LEARNERS,
            membership.roster().members().size() + " learners left, --min-learners is "
                + membership.minLearners());
    }
}
