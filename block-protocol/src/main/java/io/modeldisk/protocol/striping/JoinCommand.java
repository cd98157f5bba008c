package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command JOIN: makes the nexus a learner from a round on, or says from which round on it is one. On the
 * train unit; byte 0 is {@value #OPCODE_TEXT}, bytes 2 to 9 the earliest round to join at (0: any), all else zero. It returns
 * 8 bytes, the round at which the learner has joined. All numbers are big-endian.
 *
 * <p>A model's shards do not know each other: a learner that joins asks each for its earliest round, and then all for the
 * latest of these, so that its rounds are the same everywhere.
 */
public final class JoinCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC0;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C0 00 FF FF FF FF FF FF FF FF 00 00 00 00 00 00");

    /** How many bytes it returns. */
    public static final int DATA_BYTES = Long.BYTES;

    static final String OPCODE_TEXT = "C0h";

    private static final int EARLIEST_ROUND = 2;

    private JoinCommand() {}

    /** The CDB that asks to join at this round or later. */
    static byte[] cdb(long earliestRound) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).putLong(EARLIEST_ROUND, earliestRound).array();
    }

    /** The earliest round that a CDB asks for. */
    public static long earliestRound(Cdb cdb) {
        return cdb.u64(EARLIEST_ROUND);
    }

    /** The data that tells the round. */
    public static byte[] data(long joinRound) {
        return ByteBuffer.allocate(DATA_BYTES).putLong(0, joinRound).array();
    }

    /** The round that the data tells. */
    static long joinRound(byte[] data) {
        return ByteBuffer.wrap(data).getLong(0);
    }
}
