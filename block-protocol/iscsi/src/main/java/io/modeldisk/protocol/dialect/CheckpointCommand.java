package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command CHECKPOINT of the train unit of shard 0. CHECKPOINT requests a checkpoint of the model. The command
 * does not wait for the checkpoint. The shard's status shows when the checkpoint is complete or has failed.
 *
 * <p>In the CDB, byte 0 is C4h. All other bytes are zero. The command returns 8 bytes: the number of the
 * request, big-endian.
 */
public final class CheckpointCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC4;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C4 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");

    /** The number of bytes that CHECKPOINT returns. */
    public static final int DATA_BYTES = Long.BYTES;

    private CheckpointCommand() {}

    /** Returns the CDB of a CHECKPOINT. */
    public static byte[] cdb() {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).array();
    }

    /** Encodes the data that CHECKPOINT returns. */
    public static byte[] data(long request) {
        return ByteBuffer.allocate(DATA_BYTES).putLong(request).array();
    }

    /** Decodes the data that CHECKPOINT returned. */
    public static long request(byte[] data) {
        return ByteBuffer.wrap(data).getLong();
    }
}
