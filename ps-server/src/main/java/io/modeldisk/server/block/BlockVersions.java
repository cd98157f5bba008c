package io.modeldisk.server.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many updates each block has had, side by side, so that all of them are looked at in a moment. A block's version is changed
 * under the block's lock, and read with or without it: without, it may be a little old.
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

    /** The version of the block that has had fewest updates. */
    public long min() {
        long min = Long.MAX_VALUE;
        for (int i = 0; i < versions.length; i++) {
            min = Math.min(min, of(i));
        }
        return min;
    }

    /** The version of the block that has had most updates. */
    public long max() {
        long max = 0;
        for (int i = 0; i < versions.length; i++) {
            max = Math.max(max, of(i));
        }
        return max;
    }
}
