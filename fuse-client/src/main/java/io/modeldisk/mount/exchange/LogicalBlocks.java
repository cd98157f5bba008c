package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.scsi.LogicalBlock;

/** Rounds offsets to logical blocks: {@link io.modeldisk.protocol.striping.RemoteModel} moves whole ones. */
public final class LogicalBlocks {
    private static final long MASK = LogicalBlock.BYTES - 1;

    private LogicalBlocks() {}

    /** The start of the logical block that holds this offset. */
    public static long down(long offset) {
        return offset & ~MASK;
    }

    /** The next start of a logical block at or after this offset. */
    public static long up(long offset) {
        return (offset + MASK) & ~MASK;
    }

    /** Whether a logical block starts at this offset. */
    public static boolean isAligned(long offset) {
        return (offset & MASK) == 0;
    }
}
