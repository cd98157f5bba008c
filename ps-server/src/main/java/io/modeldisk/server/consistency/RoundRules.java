package io.modeldisk.server.consistency;

import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** Checks whether a push or pull must be refused, and creates the exception with its sense data. PROTOCOL.md has the rules. */
final class RoundRules {
    static final Sense NO_LEARNER = RoundSense.NO_LEARNER.sense();
    static final Sense NOT_IN_ROUND = RoundSense.NOT_IN_ROUND.sense();
    static final Sense TOO_FEW_LEARNERS = RoundSense.TOO_FEW_LEARNERS.sense();

    private RoundRules() {}

    /** Returns the learner of a push. A push without a round number makes its nexus a learner; other pushes need a JOIN first. */
    static Learner learner(Learners membership, IoTask task)
        throws ScsiException {
        if (task.round() == IoTask.IMPLIED_ROUND) {
            return membership.admitWriter(task.nexus());
        }
        Learner member = membership.member(task.nexus());
        if (member == null) {
            throw new ScsiException(NO_LEARNER, "initiator '" + task.nexus().learner() + "' pushed round "
                + task.round() + ", but is not a learner; the initiator must send JOIN first");
        }
        return member;
    }

    /** Returns the exception for a push of a round in which the learner does not take part. */
    static ScsiException notInRound(Learner member, long round, int block) {
        String reason = round < member.joinRound()
            ? "the learner's first round is " + member.joinRound()
            : "this round has already closed";
        return new ScsiException(NOT_IN_ROUND, "learner '" + member.key().learner() + "' pushed round " + round
            + " of block " + block + ", but " + reason);
    }

    /** Throws an exception if fewer learners than the minimum are left. */
    static void checkEnough(Learners membership) throws ScsiException {
        if (membership.roster().tooFew()) {
            throw tooFew(membership);
        }
    }

    /** Returns the exception for a push or a pull that is refused because fewer learners than the minimum are left. */
    static ScsiException tooFew(Learners membership) {
        return new ScsiException(TOO_FEW_LEARNERS, membership.stopReason(membership.roster()));
    }
}
