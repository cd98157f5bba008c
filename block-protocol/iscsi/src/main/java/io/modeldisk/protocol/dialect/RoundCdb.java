package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;

/**
 * The vendor-specific commands PUSH and PULL: a write and a read of a train unit that name their round. Their CDB has 16 bytes:
 * the operation code; in byte 1 the bit FINITE of PUSH; the logical block address in bytes 2 to 5; the number of logical
 * blocks in 6 and 7; the round in 8 to 13; a reserved byte; CONTROL (SAM-5 5.2), of which no bit is supported. All numbers are
 * big-endian.
 */
public final class RoundCdb {
    /** The operation code of PUSH: a gradient of a round; 0 for a push without a round. */
    public static final int PUSH = 0xC1;

    /** The operation code of PULL: weights with at least this round applied; 0 for any. */
    public static final int PULL = 0xC2;

    /** The bits of PUSH that have a meaning. A unit with the command returns this object, which is compared by identity. */
    public static final CdbUsage PUSH_USAGE = CdbUsage.parse("C1 01 FF FF FF FF FF FF FF FF FF FF FF FF 00 00");

    /** The bits of PULL that have a meaning. */
    public static final CdbUsage PULL_USAGE = CdbUsage.parse("C2 00 FF FF FF FF FF FF FF FF FF FF FF FF 00 00");

    /** The highest round: the field has six bytes. */
    public static final long MAX_ROUND = 0xFFFF_FFFF_FFFFL;

    /** The byte of the bit FINITE. */
    public static final int FLAGS_FIELD = 1;

    /** In {@link #FLAGS_FIELD} of PUSH: the initiator has found no NaN and no infinity in the gradient. */
    public static final int FINITE = 1;

    /** Where the logical block address starts. */
    public static final int LBA_FIELD = 2;

    /** Where the number of logical blocks starts. */
    public static final int BLOCKS_FIELD = 6;

    /** Where the round starts. */
    public static final int ROUND_FIELD = 8;

    /** The logical blocks that the 32 bits of a logical block address reach. */
    public static final long MAX_BLOCKS = 1L << 32;

    private static final int ROUND_BITS = 48;

    private RoundCdb() {}

    /** Whether the initiator has found no NaN and no infinity in the gradient of a PUSH. */
    public static boolean isFinite(Cdb cdb) {
        return (cdb.u8(FLAGS_FIELD) & FINITE) != 0;
    }

    /** The logical block address. */
    public static long lba(Cdb cdb) {
        return cdb.u32(LBA_FIELD);
    }

    /** The number of logical blocks. */
    public static int blocks(Cdb cdb) {
        return cdb.u16(BLOCKS_FIELD);
    }

    /** The round. */
    public static long round(Cdb cdb) {
        return cdb.u64(BLOCKS_FIELD) & MAX_ROUND;
    }

    /** The eight bytes from {@link #BLOCKS_FIELD} on: the number of logical blocks and the round. */
    public static long blocksAndRound(int blocks, long round) {
        return (long) blocks << ROUND_BITS | round;
    }
}
