package io.modeldisk.protocol.dialect;

/**
 * The part of the training data that belongs to a learner in a round, as PARTITION returns it.
 *
 * @param round the round
 * @param rank the number of the part, from 0; {@link #NO_RANK} if the learner has no part in the round
 * @param of the number of parts; 0 if the initiator is not a learner
 * @param epoch the number of the partition: 1 for the first partition, and one more after each change; 0 if the initiator is not
 *     a learner
 */
public record Partition(long round, int rank, int of, long epoch) {
    /** The rank of a learner that has no part in a round. PARTITION returns this rank as FFFFFFFFh. */
    public static final int NO_RANK = -1;

    /** Returns whether the learner has a part in the round. */
    public boolean hasRank() {
        return rank != NO_RANK;
    }
}
