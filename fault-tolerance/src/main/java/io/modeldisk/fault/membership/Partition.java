package io.modeldisk.fault.membership;

/**
 * The part of the training data that belongs to a learner in a round.
 *
 * @param rank the number of the part, from 0; {@link #NO_RANK} if the learner has no part in the round
 * @param of the number of parts; 0 if the key is not a learner
 * @param epoch the number of the partition: 1 for the first, and one more after each change; 0 if the key is not a learner
 */
public record Partition(int rank, int of, long epoch) {
    /** The rank of a learner that has no part in a round. */
    public static final int NO_RANK = -1;

    static final Partition NOT_A_LEARNER = new Partition(NO_RANK, 0, 0);
}
