package io.modeldisk.fault.membership;

/**
 * A learner, from its join until it leaves or its lease expires. If its key joins again after that, it becomes a new member.
 * Subclasses add the data that a shard keeps for a learner.
 *
 * @param <K> the type of the key that identifies a learner
 */
public class Member<K> {
    private final K key;
    private volatile long number;
    private volatile long joinRound;
    private volatile boolean lost;
    // Guarded by the lock of Membership. Meaningful only while the learner is lost.
    private long lostSinceNs;

    /** Creates a member that has not joined yet. {@link Membership#join} sets the member's number and first round. */
    protected Member(K key) {
        this.key = key;
    }

    void admit(long membershipNumber, long firstRound) {
        number = membershipNumber;
        joinRound = firstRound;
    }

    /** The key that identifies the learner. */
    public final K key() {
        return key;
    }

    /** A random number that identifies this membership. A later member with the same key has another number. Never 0. */
    public final long number() {
        return number;
    }

    /** The first round of the learner, at least 1. */
    public final long joinRound() {
        return joinRound;
    }

    /**
     * Raises the first round of the learner to {@code round}, so that it joins all shards at the same round.
     *
     * @return whether the first round has changed, so that earlier rounds no longer wait for the learner
     */
    public final synchronized boolean postpone(long round) {
        if (round <= joinRound) {
            return false;
        }
        joinRound = round;
        return true;
    }

    /** Returns whether the connection of the learner is lost. Its lease has started, and rounds still wait for the learner. */
    public final boolean isLost() {
        return lost;
    }

    void lose(long nowNs) {
        if (!lost) {
            lostSinceNs = nowNs;
            lost = true;
        }
    }

    void find() {
        lost = false;
    }

    void extendLease(long durationNs) {
        lostSinceNs += durationNs;
    }

    boolean hasExpired(long nowNs, long leaseNs) {
        return lost && nowNs - lostSinceNs >= leaseNs;
    }

    @Override
    public final String toString() {
        return key + " since round " + joinRound + (lost ? " (lost)" : "");
    }
}
