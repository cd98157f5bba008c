package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command LEARNING RATE of the train unit. LEARNING RATE returns the learning rate of a round, and can change
 * the rate from this round on. An initiator sends a change to all shards.
 *
 * <p>In the CDB, byte 0 is CAh, bytes 2 to 5 are the new rate without the factor of the schedule, as a float32 (0 leaves the rate
 * unchanged), and bytes 8 to 13 are the round, as in PUSH. All other bytes are zero. The command returns 4 bytes: the learning
 * rate of the round, with the factor of the schedule, as a float32. All numbers are big-endian.
 */
public final class LearningRateCommand {
    /** The operation code. */
    public static final int OPCODE = 0xCA;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("CA 00 FF FF FF FF 00 00 FF FF FF FF FF FF 00 00");

    /** The number of bytes that LEARNING RATE returns. */
    public static final int DATA_BYTES = Float.BYTES;

    private static final int RATE_FIELD = 2;

    private LearningRateCommand() {}

    /** Returns the CDB of LEARNING RATE. A {@code rate} of 0 leaves the rate unchanged. */
    public static byte[] cdb(long round, float rate) {
        return RoundCdb.cdb(OPCODE, round).putFloat(RATE_FIELD, rate).array();
    }

    /**
     * Returns the new rate in a CDB; 0 if the rate does not change.
     *
     * @throws ScsiException if the rate is negative, infinite or NaN
     */
    public static float rate(Cdb cdb) throws ScsiException {
        float rate = Float.intBitsToFloat((int) cdb.u32(RATE_FIELD));
        if (!Float.isFinite(rate) || rate < 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(RATE_FIELD),
                "LEARNING RATE has the rate " + rate + "; the rate must be finite and must not be negative");
        }
        return rate;
    }

    /** Encodes the data that LEARNING RATE returns. */
    public static byte[] data(float rate) {
        return ByteBuffer.allocate(DATA_BYTES).putFloat(rate).array();
    }

    /** Decodes the rate that LEARNING RATE has returned. */
    public static float rate(byte[] data) {
        return ByteBuffer.wrap(data).getFloat();
    }
}
