package io.modeldisk.fault.membership;

/**
 * A learner of a job. The object is valid until the learner leaves or its lease expires. A later join with the same key creates a
 * new member. Subclasses add the data that a shard keeps for a learner.
 *
 * @param <K> the type of the key that identifies a learner
 */
public class Member<K> {
    private volatile K key;
    private volatile long number;
    private volatile long joinRound;
    private volatile boolean lost;
    // Guarded by the lock of Membership. Valid only while the connection of the learner is lost.
    private long lostSinceNs;
    // Guarded by the lock of Membership. Valid only while the job forms.
    private int place;

    /** Creates a member that has not joined yet. {@link Membership#join} sets the member's number and first round. */
    protected Member(K key) {
        this.key = key;
    }

    void admit(long membershipNumber, long firstRound, int placeInJob) {
        number = membershipNumber;
        joinRound = firstRound;
        place = placeInJob;
    }

    /**
     * Called when the learner continues its membership in the previous process, where it had pushed all rounds up to this one.
     * Does nothing by default.
     */
    protected void continueAfter(long round) {}

    /** Returns the place that the learner got when it joined. While the job forms, the place is also the rank of the learner. */
    int place() {
        return place;
    }

    /** Returns the key that identifies the learner. */
    public final K key() {
        return key;
    }

    /** Returns a random number, never 0, that identifies this membership. A later member with the same key has another number. */
    public final long number() {
        return number;
    }

    /** Returns the first round of the learner, which is at least 1. */
    public final long joinRound() {
        return joinRound;
    }

    /** Sets a later first round. */
    void postpone(long firstRound) {
        joinRound = firstRound;
    }

    /** Returns whether the connection of the learner is lost. Rounds wait for a lost learner until its lease expires. */
    public final boolean isLost() {
        return lost;
    }

    /** Replaces the key by an equal key, which can describe a newer connection of the learner. */
    void describe(K equalKey) {
        key = equalKey;
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
