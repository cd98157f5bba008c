package io.modeldisk.server.checkpoint;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.time.Duration;

/**
 * How much of a checkpoint is on disk, for the shards that stop and wait for it. While such a shard waits, each shard writes
 * little to disk at a time. So the shard that waits sees progress on any disk that works. Otherwise, the system decides when to
 * write to disk. One thread calls {@link #wrote}, and any thread {@link #now}.
 */
final class DiskProgress {
    private static final long MAX_UNSYNCED_BYTES = 64 << 20;
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final StateDirectory state;
    private final int shards;
    private final Awaited awaited;
    private final NanoClock clock;
    // Used only by the thread that writes.
    private PartWriter looked;
    private long lookedNs;
    private boolean isAwaited;

    /** Returns whether a shard waits for a checkpoint because it stops. */
    @FunctionalInterface
    interface Awaited {
        boolean isAwaited() throws IOException;
    }

    /**
     * The part of a checkpoint that is on disk.
     *
     * @param checkpoint the number of the checkpoint; 0 if none is being written
     * @param blocks the sum of {@link PartWriter#synced} of all shards
     */
    record OnDisk(long checkpoint, long blocks) {}

    DiskProgress(StateDirectory state, int shards, Awaited awaited, NanoClock clock) {
        this.state = state;
        this.shards = shards;
        this.awaited = awaited;
        this.clock = clock;
    }

    /** A block was written. Shows the progress at the first block, after 64 MiB, and every second. */
    void wrote(PartWriter writer) throws IOException {
        boolean due = looked != writer || clock.nanoTime() - lookedNs >= PERIOD.toNanos();
        if (due) {
            looked = writer;
            lookedNs = clock.nanoTime();
            isAwaited = awaited.isAwaited();
        }
        if (isAwaited && (due || writer.unsyncedBytes() >= MAX_UNSYNCED_BYTES)) {
            writer.sync();
        }
    }

    /** Returns how much of the checkpoint in progress all shards together have on disk. */
    OnDisk now() throws IOException {
        StateDirectory.Folder partial = state.partial();
        long blocks = 0;
        for (int i = 0; i < shards && partial != null; i++) {
            blocks += PartWriter.synced(partial, i, shards);
        }
        return new OnDisk(partial == null ? 0 : partial.number(), blocks);
    }
}
