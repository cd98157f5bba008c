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
 * The learners of a shard. Each learner is an I_T nexus. Of the nexuses that join with the same initiator name, at most one is a
 * learner. A learner belongs to its user until the learner leaves or its lease expires. The user is unknown if the learner was
 * restored from a record of an earlier version, or if the shard had no secrets. Such a learner belongs to the first user that
 * logs in as its nexus. Thread-safe.
 */
public final class Learners extends Membership<Nexus, Learner> {
    private final RoundTimes roundTimes;
    private final int maxLearners;
    /** Held from the check of a learner name until the learner is admitted. */
    private final Object admission = new Object();
    private final AtomicBoolean replaced = new AtomicBoolean();

    /**
     * Creates an empty set of learners.
     *
     * @param learners the number of learners that must join before the first round may close
     * @param minLearners the minimum number of learners after the job has formed
     * @param lease the time after which a learner without a connection is removed
     * @param maxLearners the maximum number of learners at the same time, which depends on the Java heap
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

    /** If the learner of this nexus belongs to another user than the nexus does, returns the learner's user; otherwise null. */
    public String otherUser(Nexus nexus) {
        Learner member = super.member(nexus);
        return member == null || mayHold(member.key(), nexus) ? null : member.key().user();
    }

    /** Records a new connection of a nexus. Returns true if the learner's user was unknown, and is now the user of this nexus. */
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
     * @throws ScsiException if a learner with this initiator name belongs to another user, or if the heap has no space for
     *     another learner
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
     * Returns the learner of a nexus that joins. If the nexus has no learner, creates one. If {@code anew} is set, always creates
     * a new learner, which replaces the learner of the nexus. The new learner also replaces a learner with the same initiator
     * name and another ISID, if the connection of that learner is lost.
     *
     * @throws ScsiException if another learner with this initiator name is connected or belongs to another user, or if the heap
     *     has no space for another learner
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
            return joinAnew(nexus, !anew);
        }
    }

    /** Refuses a learner with an observer's name. Every user may log in with such a name, so the name identifies no user. */
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

    /** Returns whether a learner has replaced another since the last call. Rounds may still wait for the replaced learner. */
    public boolean takeReplaced() {
        return replaced.getAndSet(false);
    }

    /** For each of the last rounds, the time at which the first learner completed the round. */
    public RoundTimes roundTimes() {
        return roundTimes;
    }
}
