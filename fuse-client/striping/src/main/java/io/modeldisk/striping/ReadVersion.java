package io.modeldisk.striping;

/**
 * The version of the weights that one call has read.
 *
 * @param round under {@code bsp}, the round after which all blocks were read; -1 in the other modes
 * @param minVersion the lowest number of updates among all blocks
 * @param maxVersion the highest number of updates among all blocks
 * @param updates the sum of all blocks' updates at the end of the reading
 * @param rawWrites the number of writes to LUN 1 at the end of the reading
 * @param history a number that changes when a shard loses updates
 * @param steady true if no block of the model changed during the reading
 */
public record ReadVersion(long round, long minVersion, long maxVersion, long updates, long rawWrites, long history,
    boolean steady) {
    /** The value of {@link #round} in the modes other than {@code bsp}. */
    public static final long NO_ROUND = -1;
}
