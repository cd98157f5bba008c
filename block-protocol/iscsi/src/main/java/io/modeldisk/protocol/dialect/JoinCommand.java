package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command JOIN of a train unit: makes the nexus a learner from a round on, or returns its first round as
 * one. Byte 0 is {@value #OPCODE_TEXT}; bit 0 of byte 1 is ANEW; bytes 2 to 9 are the earliest round to join at (0: any); all
 * else is zero. It returns 16 bytes: the round at which the learner has joined, and the number of its membership. All numbers
 * are big-endian.
 *
 * <p>A model's shards do not know each other: a learner that joins asks each for its earliest round, and then all for the
 * latest of these, so that its rounds are the same everywhere.
 */
public final class JoinCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC0;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C0 01 FF FF FF FF FF FF FF FF 00 00 00 00 00 00");

    /** How many bytes it returns. */
    public static final int DATA_BYTES = 2 * Long.BYTES;

    static final String OPCODE_TEXT = "C0h";

    private static final int FLAGS = 1;
    private static final int ANEW = 1;
    private static final int EARLIEST_ROUND = 2;

    /**
     * A shard's answer.
     *
     * @param joinRound the first round that the learner takes part in
     * @param membership a number that changes when the nexus becomes a new learner, whose earlier rounds are forgotten
     */
    public record Answer(long joinRound, long membership) {}

    private JoinCommand() {}

    /** The CDB that asks to join at this round or later; {@code anew} ends a membership that still exists. */
    public static byte[] cdb(long earliestRound, boolean anew) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).put(FLAGS, (byte) (anew ? ANEW : 0))
            .putLong(EARLIEST_ROUND, earliestRound).array();
    }

    /**
     * The earliest round that a CDB asks for.
     *
     * @throws ScsiException for a round above {@link RoundCdb#MAX_ROUND}
     */
    public static long earliestRound(Cdb cdb) throws ScsiException {
        long round = cdb.u64(EARLIEST_ROUND);
        if (round < 0 || round > RoundCdb.MAX_ROUND) {
            throw new ScsiException(Sense.invalidFieldInCdb(EARLIEST_ROUND),
                "JOIN at round " + Long.toUnsignedString(round) + ", the last is " + RoundCdb.MAX_ROUND);
        }
        return round;
    }

    /** Whether a CDB asks for a new membership. */
    public static boolean anew(Cdb cdb) {
        return (cdb.u8(FLAGS) & ANEW) != 0;
    }

    /** The data with the round and the membership. */
    public static byte[] data(long joinRound, long membership) {
        return ByteBuffer.allocate(DATA_BYTES).putLong(joinRound).putLong(membership).array();
    }

    /** The answer in the data. */
    public static Answer answer(byte[] data) {
        ByteBuffer buffer = ByteBuffer.wrap(data);
        return new Answer(buffer.getLong(), buffer.getLong());
    }
}
