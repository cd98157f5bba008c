package io.modeldisk.protocol.scsi;

/** The unit of LBAs and transfer lengths (SBC-3 section 4.5). All I/O is aligned to logical blocks. */
public final class LogicalBlock {
    /** The size of a logical block in bytes. */
    public static final int BYTES = 4096;

    private LogicalBlock() {}

    /** Returns the number of logical blocks in a range of whole logical blocks. */
    public static long in(long lengthBytes) {
        return lengthBytes / BYTES;
    }

    /** Returns the start of the logical block that contains this offset. */
    public static long down(long offset) {
        return offset & -BYTES;
    }

    /** Rounds an offset or a length up to a multiple of the size of a logical block. */
    public static long up(long offset) {
        return down(offset + BYTES - 1);
    }

    /** Returns whether a logical block starts at this offset. */
    public static boolean isAligned(long offset) {
        return down(offset) == offset;
    }
}
