package io.modeldisk.server.consistency;

import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** Which pushes and pulls are refused for their round, and with what sense. PROTOCOL.md tells initiators. */
final class RoundRules {
    static final Sense NO_LEARNER = RoundSense.NO_LEARNER.sense();
    static final Sense NOT_IN_ROUND = RoundSense.NOT_IN_ROUND.sense();
    static final Sense TOO_FEW_LEARNERS = RoundSense.TOO_FEW_LEARNERS.sense();

    private RoundRules() {}

    /** The learner that pushes: without a round anybody becomes one, with a round it must have joined, to know its rounds. */
    static Learner learner(Learners membership, IoTask task)
        throws ScsiException {
        if (task.round() == IoTask.IMPLIED_ROUND) {
            return membership.admit(task.nexus(), false);
        }
        Learner member = membership.member(task.nexus());
        if (member == null) {
            throw new ScsiException(NO_LEARNER, task.nexus().learner() + " pushes round " + task.round()
                + " and is no learner: JOIN comes first");
        }
        return member;
    }

    /** The refusal of a push of a round that the learner is not in, or that was closed without it. */
    static ScsiException notInRound(Learner member, long round, int block) {
        return new ScsiException(NOT_IN_ROUND, member.key().learner() + " pushes round " + round + " of block " + block
            + ", which goes without it: it takes part from round " + member.joinRound() + " on");
    }

    /** Refuses a push or a wait that too few learners are left for. */
    static void checkEnough(Learners membership) throws ScsiException {
        if (membership.roster().tooFew()) {
            throw tooFew(membership);
        }
    }

    /** The refusal of what too few learners are left for. */
    static ScsiException tooFew(Learners membership) {
        return new ScsiException(TOO_FEW_LEARNERS, membership.roster().members().size() + " learners are left, "
            + membership.minLearners() + " must be");
    }
}
