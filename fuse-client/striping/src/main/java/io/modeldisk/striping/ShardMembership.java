package io.modeldisk.striping;

import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;

/**
 * A learner's membership of one shard, and the learner's session. After JOIN, the caller checks in the result whether the shard
 * has forgotten the learner, and then calls {@link #agreed()}. After {@link #agreed()}, the session is available for pushes and
 * pulls. Thread-safe.
 */
final class ShardMembership {
    private final ShardClient shard;
    private final String label;

    // Guarded by {@code this}.
    private long isid;
    private IscsiSession session;
    /** The result of the last JOIN; null before the first JOIN. */
    private JoinCommand.Answer answer;
    /** The identifier of the membership at the last call of {@link #agreed()}; 0 if there was no call yet, or after a leave. */
    private long membership;
    /** The number of the shard's history at the last call of {@link #agreed()}; 0 if it is not known. */
    private long history;
    /** The start round of the shard at the last call of {@link #agreed()}; see {@link JoinCommand.Answer}. */
    private long startRound;

    /**
     * The session for pushes and pulls; null until the caller calls {@link #agreed()} after a login. Volatile, because pushes
     * and pulls read this field without a lock.
     */
    private volatile IscsiSession agreed;

    ShardMembership(ShardClient shard, String label, long isid) {
        this.shard = shard;
        this.label = label;
        this.isid = isid;
    }

    /** Returns the learner's session; null if the session is not open or {@link #agreed()} was not called after the login. */
    IscsiSession session() {
        IscsiSession current = agreed;
        return current != null && current.isOpen() ? current : null;
    }

    /** Joins the shard for the first time. Joins again if the session was lost after an earlier JOIN. */
    synchronized void joinFirst() throws IOException {
        if (answer == null) {
            // The shard might still have an earlier learner with the same label, whose rounds must not count for this learner.
            join(0, true);
        } else if (!session.isOpen()) {
            join(0, false);
        }
    }

    /**
     * Joins the shard at round {@code earliestRound} or later, or continues the existing membership. Logs in again if necessary.
     */
    synchronized void join(long earliestRound) throws IOException {
        join(earliestRound, false);
    }

    private void join(long earliestRound, boolean anew) throws IOException {
        if (session == null || !session.isOpen()) {
            agreed = null;
            logIn();
        }
        try {
            answer = shard.join(session, earliestRound, anew);
        } catch (ShardException e) {
            throw e.kind() == ShardException.Kind.NAME_IN_USE ? nameInUse(e) : e;
        }
    }

    /** Adds the host that uses the learner's name to the refusal of a JOIN, so the user can find the other mount. */
    private ShardException nameInUse(ShardException refusal) throws IOException {
        String host = shard.hostOf(label);
        return refusal.withMessage(shard.id() + ": the learner '" + label + "' cannot join, because "
            + (host == null
                ? "the name belongs to another user until the lease of its learner ends, or is reserved (status-...)"
                : "another mount with this name is connected from " + host + "; unmount it there")
            + ", or give this mount a different --learner");
    }

    private void logIn() throws IOException {
        if (session != null) {
            session.close();
        }
        session = shard.logIn(isid, label);
    }

    /** The learner's first round, from the last result of JOIN. */
    synchronized long joinRound() {
        return answer.joinRound();
    }

    /** Returns whether the last JOIN began a new membership for which {@link #agreed()} was not called yet. */
    synchronized boolean isNewcomer() {
        return answer.membership() != membership;
    }

    /** Returns whether the shard has lost updates between the last call of {@link #agreed()} and the last JOIN. */
    synchronized boolean wentBack() {
        return history != 0 && answer.history() != 0 && answer.history() != history;
    }

    /**
     * Returns the last round for which the shard might have pushes of the earlier membership; {@link Long#MAX_VALUE} if the
     * result of the last JOIN gives no such limit.
     */
    synchronized long lastKnownRound() {
        boolean restarted = history != 0 && answer.history() == history && answer.startRound() > startRound;
        return restarted ? answer.startRound() : Long.MAX_VALUE;
    }

    /** Records that the caller accepts the membership in the last result of JOIN. Makes the session available. */
    synchronized void agreed() {
        membership = answer.membership();
        history = answer.history();
        startRound = answer.startRound();
        agreed = session;
    }

    /** Returns the membership, which another process can continue. */
    synchronized SessionsImage.Membership image() {
        return new SessionsImage.Membership(isid, membership, history, startRound);
    }

    /** Continues the membership of another process. The next call of {@link #join} replaces the session of that process. */
    synchronized void resume(SessionsImage.Membership image) {
        isid = image.isid();
        membership = image.membership();
        history = image.history();
        startRound = image.startRound();
    }

    synchronized void leave() {
        agreed = null;
        answer = null;
        membership = 0;
        history = 0;
        startRound = 0;
        if (session != null) {
            session.close();
            session = null;
        }
    }
}
