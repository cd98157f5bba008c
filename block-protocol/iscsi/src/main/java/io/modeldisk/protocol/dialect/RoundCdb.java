package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.nio.ByteBuffer;

/**
 * The vendor-specific commands PUSH and PULL, which write and read the train unit. Both commands contain a round. All numbers are
 * big-endian. The CDB has 16 bytes:
 *
 * <ul>
 * <li>byte 0: the operation code
 * <li>byte 1: the bit FINITE of PUSH; otherwise reserved
 * <li>bytes 2 to 5: the logical block address
 * <li>bytes 6 and 7: the number of logical blocks
 * <li>bytes 8 to 13: the round
 * <li>byte 14: reserved
 * <li>byte 15: CONTROL (SAM-5 5.2); no bit is supported
 * </ul>
 */
public final class RoundCdb {
    /** The operation code of PUSH, which writes a gradient of a round. Round 0 means a push without a round. */
    public static final int PUSH = 0xC1;

    /** The operation code of PULL, which reads weights that include at least the given round. Round 0 means any weights. */
    public static final int PULL = 0xC2;

    /**
     * The bits of PUSH that have a meaning. A logical unit supports PUSH if the unit's list of commands contains this object
     * (compared by identity).
     */
    public static final CdbUsage PUSH_USAGE = CdbUsage.parse("C1 01 FF FF FF FF FF FF FF FF FF FF FF FF 00 00");

    /** The bits of PULL that have a meaning. */
    public static final CdbUsage PULL_USAGE = CdbUsage.parse("C2 00 FF FF FF FF FF FF FF FF FF FF FF FF 00 00");

    /** The value of the round field in a PUSH without a round. */
    public static final long NO_ROUND = 0;

    /** The highest round: the field has six bytes. */
    public static final long MAX_ROUND = 0xFFFF_FFFF_FFFFL;

    /** The offset of the byte with the bit FINITE in the CDB. */
    public static final int FLAGS_FIELD = 1;

    /** The bit FINITE in a PUSH. The initiator sets the bit if it has found no NaN and no infinity in the gradient. */
    public static final int FINITE = 1;

    /** The offset of the logical block address in the CDB. */
    public static final int LBA_FIELD = 2;

    /** The offset of the number of logical blocks in the CDB. */
    public static final int BLOCKS_FIELD = 6;

    /** The offset of the round in the CDB. */
    public static final int ROUND_FIELD = 8;

    /** The number of logical blocks that a 32-bit logical block address can address. */
    public static final long MAX_BLOCKS = 1L << 32;

    private static final int ROUND_BITS = 48;

    private RoundCdb() {}

    /** Returns whether the initiator has found no NaN and no infinity in the gradient of a PUSH. */
    public static boolean isFinite(Cdb cdb) {
        return (cdb.u8(FLAGS_FIELD) & FINITE) != 0;
    }

    /** Returns the logical block address in a CDB. */
    public static long lba(Cdb cdb) {
        return cdb.u32(LBA_FIELD);
    }

    /** Returns the number of logical blocks in a CDB. */
    public static int blocks(Cdb cdb) {
        return cdb.u16(BLOCKS_FIELD);
    }

    /** Returns the round in a CDB. */
    public static long round(Cdb cdb) {
        return cdb.u64(BLOCKS_FIELD) & MAX_ROUND;
    }

    /**
     * Returns the round in the CDB of a command that needs a round.
     *
     * @param command the name of the command
     * @throws ScsiException if the round is 0
     */
    public static long existingRound(Cdb cdb, String command) throws ScsiException {
        long round = round(cdb);
        if (round == NO_ROUND) {
            throw new ScsiException(Sense.invalidFieldInCdb(ROUND_FIELD),
                command + " names round 0; the first round is 1");
        }
        return round;
    }

    /** Returns the CDB of a command that uses only the operation code and the round. */
    static ByteBuffer cdb(int opcode, long round) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) opcode).putLong(BLOCKS_FIELD, blocksAndRound(0, round));
    }

    /** Returns the eight bytes of a CDB that start at {@link #BLOCKS_FIELD}: the number of logical blocks and the round. */
    public static long blocksAndRound(int blocks, long round) {
        return (long) blocks << ROUND_BITS | round;
    }
}
