package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.scsi.LogicalBlock;

/** Rounds offsets to logical blocks, because {@link io.modeldisk.protocol.striping.RemoteModel} moves only whole blocks. */
public final class LogicalBlocks {
    private static final long MASK = LogicalBlock.BYTES - 1;

    private LogicalBlocks() {}

    /** Returns the start of the logical block that contains this offset. */
    public static long down(long offset) {
        return offset & ~MASK;
    }

    /** Returns the start of the first logical block that starts at or after this offset. */
    public static long up(long offset) {
        return (offset + MASK) & ~MASK;
    }

    /** Returns whether a logical block starts at this offset. */
    public static boolean isAligned(long offset) {
        return (offset & MASK) == 0;
    }
}
