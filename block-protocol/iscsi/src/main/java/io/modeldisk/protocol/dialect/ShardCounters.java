package io.modeldisk.protocol.dialect;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * How far a shard is, in a few numbers: VPD page {@value #VPD_PAGE_TEXT}, {@value #BYTES} bytes whatever the model and the
 * number of learners. A shard answers it without taking a block's lock, so a learner may ask in each iteration.
 *
 * @param minVersion the updates of the block that has had fewest
 * @param maxVersion the updates of the block that has had most
 * @param openedRound the highest round that any learner has begun in any block; 0 before the first
 * @param learners how many learners the shard has now, live or within their lease
 * @param formed whether as many learners as the job waits for have joined
 * @param stopped whether fewer learners are left than the job needs
 */
public record ShardCounters(
    long minVersion, long maxVersion, long openedRound, int learners, boolean formed, boolean stopped) {

    /** The vendor-specific VPD page that carries these counters, on both logical units. */
    public static final int VPD_PAGE = 0xC2;

    /** The length of the page after its 4-byte header. */
    public static final int BYTES = 32;

    static final String VPD_PAGE_TEXT = "C2h";

    private static final int FORMED = 1;
    private static final int STOPPED = 2;

    /** The page's contents after its header. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(minVersion).putLong(maxVersion).putLong(openedRound).putInt(learners)
            .putInt((formed ? FORMED : 0) | (stopped ? STOPPED : 0)).array();
    }

    /**
     * Reads the page's contents; fields that follow are ignored.
     *
     * @throws IOException if the page is too short
     */
    public static ShardCounters fromBytes(byte[] page) throws IOException {
        if (page.length < BYTES) {
            throw new IOException("VPD page C2h has " + page.length + " bytes, expected " + BYTES);
        }
        ByteBuffer buffer = ByteBuffer.wrap(page);
        long minVersion = buffer.getLong();
        long maxVersion = buffer.getLong();
        long openedRound = buffer.getLong();
        int learners = buffer.getInt();
        int flags = buffer.getInt();
        return new ShardCounters(minVersion, maxVersion, openedRound, learners, (flags & FORMED) != 0,
            (flags & STOPPED) != 0);
    }

    /** The counters that hold for the blocks of two shards. */
    public ShardCounters and(ShardCounters other) {
        return new ShardCounters(Math.min(minVersion, other.minVersion), Math.max(maxVersion, other.maxVersion),
            Math.max(openedRound, other.openedRound), Math.max(learners, other.learners), formed && other.formed,
            stopped || other.stopped);
    }
}
