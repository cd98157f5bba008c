package io.modeldisk.fault.membership;

/**
 * A learner, from its join until it leaves or its lease ends: a key that comes back later is another member. Subclasses add the
 * data that their owner keeps for a learner.
 *
 * @param <K> what identifies a learner
 */
public class Member<K> {
    private final K key;
    private volatile long number;
    private volatile long joinRound;
    private volatile boolean lost;
    // Guarded by the membership's lock; meaningful while lost.
    private long lostSinceNs;

    /** A member that has not joined yet: {@link Membership#join} gives it its number and its round. */
    protected Member(K key) {
        this.key = key;
    }

    void admit(long membershipNumber, long firstRound) {
        number = membershipNumber;
        joinRound = firstRound;
    }

    /** The key that identifies it. */
    public final K key() {
        return key;
    }

    /** Differs for each member, also for one of the same key or of another process: random, never 0. */
    public final long number() {
        return number;
    }

    /** The first round it takes part in, from 1. */
    public final long joinRound() {
        return joinRound;
    }

    /**
     * Raises its first round to {@code round}, to join at the same round on all shards.
     *
     * @return whether its first round has changed, so that earlier rounds need not wait for it any more
     */
    public final synchronized boolean postpone(long round) {
        if (round <= joinRound) {
            return false;
        }
        joinRound = round;
        return true;
    }

    /** Whether its connection is gone and its lease runs; rounds still wait for it. */
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
