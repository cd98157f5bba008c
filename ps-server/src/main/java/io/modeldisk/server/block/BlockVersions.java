package io.modeldisk.server.block;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The versions of all blocks in one array, so a scan is fast. The version of a block is the number of its updates, including
 * the updates before the checkpoint from which the shard started. A version is changed under the lock of its block. Without the
 * lock, a read may return a slightly older version.
 */
public final class BlockVersions {

    private static final int NONE = -1;

    private final AtomicLongArray versions;
    /** For each block, the part of the version that {@link #restore} has set. {@link #increment} has counted the rest. */
    private final long[] restored;
    /** The block whose next update calls {@link #reached}; {@link #NONE} if there is none. */
    private volatile int watched = NONE;
    private volatile Runnable reached = () -> {};

    BlockVersions(int blocks) {
        this.versions = new AtomicLongArray(blocks);
        this.restored = new long[blocks];
    }

    long of(int block) {
        return versions.getOpaque(block);
    }

    /** Returns the number of calls of {@link #increment}. The caller holds the lock of the block. */
    long increments(int block) {
        return versions.getPlain(block) - restored[block];
    }

    void increment(int block) {
        // The write is volatile, so this thread reads the watched block after it has written the version: see watchLowest().
        versions.set(block, versions.getPlain(block) + 1);
        if (block == watched) {
            reached.run();
        }
    }

    /** Sets the action to run after an update of the watched block, in a thread that holds the lock of that block. */
    void onReached(Runnable action) {
        reached = action;
    }

    /**
     * Watches a block that has the lowest version. As long as this block has this version, the lowest version cannot change.
     *
     * @return the lowest version of all blocks
     */
    long watchLowest() {
        while (true) {
            int lowest = 0;
            long version = of(0);
            // If several blocks have the lowest version, watches the last one, because learners push blocks in ascending order.
            for (int i = 1; i < versions.length(); i++) {
                long each = of(i);
                if (each <= version) {
                    lowest = i;
                    version = each;
                }
            }
            watched = lowest;
            if (versions.get(lowest) == version) {
                return version;
            }
        }
    }

    /** Watches no block. */
    void unwatch() {
        watched = NONE;
    }

    /** Sets the version that a block has in a checkpoint. May be called only before the first update. */
    public void restore(int block, long version) {
        restored[block] += version - versions.getPlain(block);
        versions.setOpaque(block, version);
    }

    /** The total number of updates of all blocks. */
    public long total() {
        long total = 0;
        for (int i = 0; i < versions.length(); i++) {
            total += of(i);
        }
        return total;
    }

    /** The lowest and the highest version of all blocks, and the sum of the versions, which is the number of all updates. */
    public record Span(long min, long max, long total) {}

    /** Returns the lowest and the highest version and the number of updates, with one scan. */
    public Span span() {
        long min = Long.MAX_VALUE;
        long max = 0;
        long total = 0;
        for (int i = 0; i < versions.length(); i++) {
            long version = of(i);
            min = Math.min(min, version);
            max = Math.max(max, version);
            total += version;
        }
        return new Span(min, max, total);
    }
}
