package io.modeldisk.fault.membership;

import java.util.List;

/**
 * The whole state of a {@link Membership} at one moment, except connections and leases. Immutable.
 *
 * @param formed whether the job has formed
 * @param openedRound the last opened round
 * @param firstRound the round at which learners join while the job forms
 * @param askedRound the highest round for which a learner requested its part while the job was forming
 * @param fixedRound the last round whose partition is fixed
 * @param divisions the partitions that are kept, the oldest first
 * @param learners the learners, in their order
 * @param <K> the type of the key that identifies a learner
 */
public record MembershipImage<K>(
    boolean formed, long openedRound, long firstRound, long askedRound, long fixedRound, List<Division> divisions,
    List<Learner<K>> learners) {

    /** Copies the lists. */
    public MembershipImage {
        divisions = List.copyOf(divisions);
        learners = List.copyOf(learners);
    }

    /**
     * The partition of the rounds from {@code firstRound} to the round before the next division.
     *
     * @param epoch the number of the partition
     * @param firstRound the first round with this partition
     * @param numbers the membership number of the learner with each rank
     */
    public record Division(long epoch, long firstRound, List<Long> numbers) {
        /** Copies the list. */
        public Division {
            numbers = List.copyOf(numbers);
        }
    }

    /**
     * A learner.
     *
     * @param key the key that identifies the learner
     * @param number the membership number
     * @param joinRound the first round of the learner
     * @param place the place of the learner in the order of the learners
     */
    public record Learner<K>(K key, long number, long joinRound, int place) {}
}
