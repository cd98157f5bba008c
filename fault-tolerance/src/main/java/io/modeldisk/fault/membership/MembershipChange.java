package io.modeldisk.fault.membership;

/**
 * A change of a {@link Membership}. A copy that gets all changes in the same order has the same learners, rounds and partitions.
 *
 * @param kind the kind of the change
 * @param key the key of the learner; can be null if {@code kind} is not {@link Kind#JOINED}
 * @param number the membership number of the learner; 0 if the change does not concern a single learner
 * @param round the first round of the learner ({@link Kind#JOINED}, {@link Kind#POSTPONED}), or the last round that the
 *     change concerns ({@link Kind#ASKED}, {@link Kind#FIXED}); 0 otherwise
 * @param place the place of the learner in the order of the learners; only for {@link Kind#JOINED}
 * @param openedRound the last opened round at the time of the change
 * @param <K> the type of the key that identifies a learner
 */
public record MembershipChange<K>(Kind kind, K key, long number, long round, int place, long openedRound) {
    /** The kinds of changes. */
    public enum Kind {
        /** A learner has joined. */
        JOINED,
        /** A learner has left, or its lease has expired. */
        LEFT,
        /** A learner has raised its first round. */
        POSTPONED,
        /** A learner has requested its part of the data in a round while the job was forming. */
        ASKED,
        /** The partitions of all rounds up to one round were fixed, because a learner requested its part in one of them. */
        FIXED
    }
}
