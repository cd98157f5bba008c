package io.modeldisk.fault.journal;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of a journal.
 *
 * @param state the directory of the state, which contains the checkpoints too
 * @param limitBytes the size at which the shard requests a checkpoint, so the journal can be cut. At twice this size, the
 *     shard refuses pushes. 0 for the default, which depends on the size of the shard
 * @param lockWait the time for which a starting shard waits while another process uses the journal. If a coordinator decides
 *     which process serves, the other process is a former primary, which ends or resumes soon
 */
public record JournalSettings(Path state, long limitBytes, Duration lockWait) {
    /** The version of the format of journals that this program writes. It also reads all earlier versions. */
    public static final int FORMAT = 1;

    private static final long MIN_DEFAULT_BYTES = 1L << 30;
    private static final int DEFAULT_SHARDS = 4;

    /** Returns the limit for a shard of this size. The default is 4 times the size of the shard, at least 1 GiB. */
    public long limitFor(long shardBytes) {
        return limitBytes > 0 ? limitBytes : Math.max(MIN_DEFAULT_BYTES, DEFAULT_SHARDS * shardBytes);
    }

    /** Returns the maximum size of the journal of a shard. At twice the limit of its journal, the shard refuses pushes. */
    public long maxBytes(long shardBytes) {
        return 2 * limitFor(shardBytes) + JournalSink.SEGMENT_BYTES;
    }
}
