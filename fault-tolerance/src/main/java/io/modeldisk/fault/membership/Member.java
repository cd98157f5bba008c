package io.modeldisk.fault.membership;

/**
 * A learner for as long as it is one: a key that leaves and comes back is another member.
 *
 * @param <K> what identifies a learner
 * @param <P> what the caller keeps for each learner
 */
public final class Member<K, P> {
    private final K key;
    private final long number;
    private volatile long joinRound;
    private final P progress;
    private volatile boolean lost;
    // Guarded by the membership's lock; meaningful while lost.
    private long lostSinceNanos;

    Member(K key, long number, long joinRound, P progress) {
        this.key = key;
        this.number = number;
        this.joinRound = joinRound;
        this.progress = progress;
    }

    /** Who it is. */
    public K key() {
        return key;
    }

    /** Tells this membership from every other one, of this key too, and of another process: random, never 0. */
    public long number() {
        return number;
    }

    /** The first round it takes part in, from 1. */
    public long joinRound() {
        return joinRound;
    }

    /**
     * Takes part only from {@code round} on, if that is later than it would: to join at the same round elsewhere.
     *
     * @return whether that changed anything: rounds before need not wait for it any more
     */
    public synchronized boolean postpone(long round) {
        if (round <= joinRound) {
            return false;
        }
        joinRound = round;
        return true;
    }

    /** What the caller keeps for it. */
    public P progress() {
        return progress;
    }

    /** Whether its connection is gone and its lease runs; rounds still wait for it. */
    public boolean isLost() {
        return lost;
    }

    void lose(long nowNanos) {
        if (!lost) {
            lostSinceNanos = nowNanos;
            lost = true;
        }
    }

    void find() {
        lost = false;
    }

    boolean hasExpired(long nowNanos, long leaseNanos) {
        return lost && nowNanos - lostSinceNanos >= leaseNanos;
    }

    @Override
    public String toString() {
        return key + " since round " + joinRound + (lost ? " (lost)" : "");
    }
}
