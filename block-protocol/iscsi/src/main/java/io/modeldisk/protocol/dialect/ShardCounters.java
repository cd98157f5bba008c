package io.modeldisk.protocol.dialect;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The counters that show the progress of a shard, on VPD page C2h. After its header, the page always has {@value #BYTES} bytes. A
 * shard returns the page without acquiring the lock of a block, so a learner can read the page in each iteration without slowing
 * down the shard.
 *
 * @param minVersion the number of updates of the block with the fewest updates
 * @param maxVersion the number of updates of the block with the most updates
 * @param openedRound the highest round that any learner has begun in any block; 0 before the first round
 * @param learners the current number of learners, including lost learners whose lease has not expired
 * @param formed whether enough learners have joined for the first round
 * @param stopped whether fewer learners are left than the job needs
 * @param history the random number that identifies the updates of the shard. If the number changes, the shard has lost updates,
 *     for example because it was restarted from a checkpoint. 0 from a shard of an older version
 */
public record ShardCounters(
    long minVersion, long maxVersion, long openedRound, int learners, boolean formed, boolean stopped, long history) {

    /** The vendor-specific VPD page that carries these counters, on the train units and on LUN 1. */
    public static final int VPD_PAGE = 0xC2;

    /** The length of the page after its 4-byte header, in bytes. */
    public static final int BYTES = 40;

    /** The length of the page without the history, as shards of older versions send it. */
    private static final int BYTES_WITHOUT_HISTORY = 32;
    private static final int FORMED = 1;
    private static final int STOPPED = 2;

    /** Returns the contents of the page after its header. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(minVersion).putLong(maxVersion).putLong(openedRound).putInt(learners)
            .putInt((formed ? FORMED : 0) | (stopped ? STOPPED : 0)).putLong(history).array();
    }

    /**
     * Reads the contents of the page after its header. Additional bytes at the end are ignored.
     *
     * @throws IOException if the page is too short
     */
    public static ShardCounters fromBytes(byte[] page) throws IOException {
        if (page.length < BYTES_WITHOUT_HISTORY) {
            throw new IOException("VPD page C2h has " + page.length + " bytes; it must have at least "
                + BYTES_WITHOUT_HISTORY);
        }
        ByteBuffer buffer = ByteBuffer.wrap(page);
        long minVersion = buffer.getLong();
        long maxVersion = buffer.getLong();
        long openedRound = buffer.getLong();
        int learners = buffer.getInt();
        int flags = buffer.getInt();
        return new ShardCounters(minVersion, maxVersion, openedRound, learners, (flags & FORMED) != 0,
            (flags & STOPPED) != 0, buffer.remaining() >= Long.BYTES ? buffer.getLong() : 0);
    }

    /**
     * Returns counters that cover the blocks of this shard and of another shard. If the shards of a model are combined in the
     * same order each time, the resulting history identifies the updates of the model.
     */
    public ShardCounters and(ShardCounters other) {
        return new ShardCounters(Math.min(minVersion, other.minVersion), Math.max(maxVersion, other.maxVersion),
            Math.max(openedRound, other.openedRound), Math.max(learners, other.learners), formed && other.formed,
            stopped || other.stopped, 31 * history + other.history);
    }
}
