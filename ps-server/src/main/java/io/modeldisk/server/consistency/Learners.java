package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.scsi.ScsiException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The learners of a shard. Each learner is an I_T nexus, and each initiator name is at most one learner. A learner belongs to its
 * user until it leaves or its lease expires. The user is unknown if a record of an earlier version has no user, or if the shard
 * had no secrets: then the first user that logs in as this nexus has the learner. Thread-safe.
 */
public final class Learners extends Membership<Nexus, Learner> {
    private final RoundTimes roundTimes;
    private final int maxLearners;
    /** The lock of a check of a name and of the admission that follows. */
    private final Object admission = new Object();
    private final AtomicBoolean replaced = new AtomicBoolean();

    /**
     * Creates an empty set of learners.
     *
     * @param learners the number of learners that must join before the first round may close
     * @param minLearners the minimum number of learners after the job has formed
     * @param lease the time after which a learner without a connection is removed
     * @param maxLearners the maximum number of learners at the same time, which depends on the Java heap
     * @param layout the blocks whose rounds are recorded for each learner
     * @param clock the clock of leases and rounds
     */
    public Learners(
        int learners, int minLearners, Duration lease, int maxLearners, BlockLayout layout, NanoClock clock) {
        this(learners, minLearners, lease, maxLearners, layout, clock, new RoundTimes(clock));
    }

    private Learners(
        int learners, int minLearners, Duration lease, int maxLearners, BlockLayout layout, NanoClock clock,
        RoundTimes roundTimes) {
        super(learners, minLearners, lease, clock, nexus -> new Learner(nexus, new RoundMarks(layout), roundTimes));
        this.roundTimes = roundTimes;
        this.maxLearners = maxLearners;
    }

    @Override
    protected boolean isSameLearner(Nexus one, Nexus other) {
        return one.initiatorName().equals(other.initiatorName());
    }

    @Override
    protected boolean mayHold(Nexus holder, Nexus nexus) {
        return holder.user() == null || nexus.user() == null || holder.user().equals(nexus.user());
    }

    /** Returns the learner of this nexus; null if the nexus is not a learner, or if the learner belongs to another user. */
    @Override
    public Learner member(Nexus nexus) {
        Learner member = super.member(nexus);
        return member == null || mayHold(member.key(), nexus) ? member : null;
    }

    /** Returns the user of the learner of this nexus, if it is not the user of this nexus; otherwise null. */
    public String otherUser(Nexus nexus) {
        Learner member = super.member(nexus);
        return member == null || mayHold(member.key(), nexus) ? null : member.key().user();
    }

    /**
     * Records a new connection of a nexus.
     *
     * @return whether the user of the nexus now has a learner whose user was unknown
     */
    public boolean logIn(Nexus nexus) {
        Learner member = super.member(nexus);
        boolean unknown = member != null && member.key().user() == null;
        connected(nexus);
        return unknown && member.key().user() != null;
    }

    /**
     * Returns the learner of a nexus that writes without JOIN. If the nexus has no learner, creates one, even if other nexuses of
     * the same initiator name are learners: an ordinary initiator may have several sessions.
     *
     * @throws ScsiException if the initiator name is that of another user's learner, or if the heap has no space
     */
    Learner admitWriter(Nexus nexus) throws ScsiException {
        Learner own = member(nexus);
        if (own != null) {
            return own;
        }
        synchronized (admission) {
            checkNotObserver(nexus);
            for (Learner other : sameLearners(nexus)) {
                checkOwner(nexus, other.key());
            }
            checkSpace(nexus);
            return join(nexus);
        }
    }

    /**
     * Returns the learner of a nexus that joins. If the nexus has no learner, creates one. If {@code anew} is set, always
     * creates a new learner, which replaces the old one. A learner with the same initiator name and another ISID is replaced too,
     * if its connection is lost.
     *
     * @throws ScsiException if the initiator name is that of a learner which is connected or belongs to another user, or if the
     *     heap has no space for another learner
     */
    public Learner admit(Nexus nexus, boolean anew) throws ScsiException {
        Learner own = anew ? null : member(nexus);
        if (own != null) {
            return own;
        }
        synchronized (admission) {
            checkNotObserver(nexus);
            List<Learner> before = sameLearners(nexus);
            for (Learner other : before) {
                checkOwner(nexus, other.key());
                checkNotConnected(nexus, other);
            }
            if (before.isEmpty()) {
                checkSpace(nexus);
            }
            replaced.compareAndSet(false, !before.isEmpty());
            return joinAnew(nexus);
        }
    }

    /** Every user may log in with the names of observers, so no user would own such a learner. */
    private static void checkNotObserver(Nexus nexus) throws ScsiException {
        if (nexus.user() != null && nexus.initiatorName().startsWith(ChapSecrets.OBSERVER_INITIATOR)) {
            throw nameInUse(nexus, "initiator names that begin with " + ChapSecrets.OBSERVER_INITIATOR
                + " are only for processes that read the status");
        }
    }

    private void checkSpace(Nexus nexus) throws ScsiException {
        if (roster().members().size() >= maxLearners) {
            throw new ScsiException(RoundSense.TOO_MANY_LEARNERS.sense(),
                "learner '" + nexus.learner() + "' cannot join: the Java heap of the shard has space for only "
                    + maxLearners + " learners; increase the heap (-Xmx)");
        }
    }

    private void checkOwner(Nexus nexus, Nexus holder) throws ScsiException {
        if (!mayHold(holder, nexus)) {
            throw nameInUse(nexus, "this learner belongs to user " + holder.user() + " until its lease ends");
        }
    }

    private static void checkNotConnected(Nexus nexus, Learner other) throws ScsiException {
        if (!other.isLost() && !other.key().equals(nexus)) {
            throw nameInUse(nexus, "this learner is connected from " + other.key().host());
        }
    }

    private static ScsiException nameInUse(Nexus nexus, String reason) {
        return new ScsiException(RoundSense.NAME_IN_USE.sense(),
            "learner '" + nexus.learner() + "' cannot join from " + nexus.host() + ": " + reason
                + "; give each learner a different --learner");
    }

    /** Returns the reason why a job with too few learners has stopped. */
    public String stopReason(Roster<Learner> roster) {
        int left = roster.members().size();
        return "the job has stopped: " + left + (left == 1 ? " learner is" : " learners are")
            + " left, but --min-learners is " + minLearners()
            + "; the job continues when enough learners have joined";
    }

    /** Returns, once, whether a learner has replaced an earlier one, for which rounds may still wait. */
    public boolean takeReplaced() {
        return replaced.getAndSet(false);
    }

    /** For each of the last rounds, the time at which the first learner completed the round. */
    public RoundTimes roundTimes() {
        return roundTimes;
    }
}
