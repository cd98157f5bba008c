package io.modeldisk.protocol.scsi;

/** The addressing unit of a logical unit (SBC-3 section 4.5): LBAs and transfer lengths count it, and I/O is aligned to it. */
public final class LogicalBlock {
    /** The size of a logical block. */
    public static final int BYTES = 4096;

    private LogicalBlock() {}
}
