package io.modeldisk.server.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The versions of all blocks in one array, so that a scan is fast. The version of a block is the number of its updates, including
 * the updates before the checkpoint from which the shard started. A version is changed under the lock of its block. Without the
 * lock, a read may return a slightly older version.
 */
public final class BlockVersions {
    private static final VarHandle VERSION = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] versions;

    BlockVersions(int blocks) {
        this.versions = new long[blocks];
    }

    long of(int block) {
        return (long) VERSION.getOpaque(versions, block);
    }

    void increment(int block) {
        VERSION.setOpaque(versions, block, versions[block] + 1);
    }

    /** Sets the version of a block to that of a checkpoint. May be called only before the first update. */
    public void restore(int block, long version) {
        VERSION.setOpaque(versions, block, version);
    }

    /** The lowest version of all blocks. */
    public long min() {
        long min = Long.MAX_VALUE;
        for (int i = 0; i < versions.length; i++) {
            min = Math.min(min, of(i));
        }
        return min;
    }

    /** The number of updates of all blocks together. */
    public long total() {
        long total = 0;
        for (int i = 0; i < versions.length; i++) {
            total += of(i);
        }
        return total;
    }

    /** The highest version of all blocks. */
    public long max() {
        long max = 0;
        for (int i = 0; i < versions.length; i++) {
            max = Math.max(max, of(i));
        }
        return max;
    }
}
