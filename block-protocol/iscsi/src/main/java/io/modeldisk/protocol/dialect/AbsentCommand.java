package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command ABSENT of the train unit. It reports that the learner has no gradient for a range in a round.
 * Logical blocks that the learner has already pushed in the round keep their gradient. The other logical blocks of the range
 * count as pushed without a gradient. Like PUSH, the command counts once even if it is sent again, and waits if its round is not
 * open yet.
 *
 * <p>The CDB has the format of PUSH ({@link RoundCdb}) and the operation code CBh. Bit 0 of byte 1 is NON_FINITE instead of
 * FINITE: the initiator withholds the gradient because of a NaN or an infinity. An initiator sets the bit in exactly one command
 * for each such gradient, so the shard counts each gradient once. A command with this bit and 0 logical blocks only increases
 * this count.
 *
 * <p>The command returns 4 bytes: the number of logical blocks of the range that have no gradient in the round, big-endian. A
 * command that is sent again returns the same number.
 */
public final class AbsentCommand {
    /** The operation code. */
    public static final int OPCODE = 0xCB;

    /**
     * The bits of the CDB that have a meaning. A logical unit supports the command if the unit's list of commands contains this
     * object (compared by identity).
     */
    public static final CdbUsage USAGE = CdbUsage.parse("CB 01 FF FF FF FF FF FF FF FF FF FF FF FF 00 00");

    /** The bit NON_FINITE in the byte {@link RoundCdb#FLAGS_FIELD}. */
    public static final int NON_FINITE = 1;

    /** The number of bytes that ABSENT returns. */
    public static final int DATA_BYTES = Integer.BYTES;

    private AbsentCommand() {}

    /** Returns the CDB of a command that only counts a gradient with a NaN or an infinity. */
    public static byte[] countNonFinite(long round) {
        return RoundCdb.cdb(OPCODE, round).put(RoundCdb.FLAGS_FIELD, (byte) NON_FINITE).array();
    }

    /** Returns whether the initiator withholds the gradient because of a NaN or an infinity. */
    public static boolean isNonFinite(Cdb cdb) {
        return (cdb.u8(RoundCdb.FLAGS_FIELD) & NON_FINITE) != 0;
    }

    /** Encodes the data that ABSENT returns. */
    public static byte[] data(int absentLogicalBlocks) {
        return ByteBuffer.allocate(DATA_BYTES).putInt(absentLogicalBlocks).array();
    }
}
