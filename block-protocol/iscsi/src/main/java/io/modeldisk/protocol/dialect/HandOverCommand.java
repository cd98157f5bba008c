package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command HAND OVER of the train unit of a primary. HAND OVER makes a backup that is in sync the new primary.
 * The command does not wait for the handover. The coordinator names the new primary as soon as the new primary serves the shard.
 *
 * <p>In the CDB, byte 0 is C6h. All other bytes are zero. The command returns no data.
 */
public final class HandOverCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC6;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C6 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");

    private HandOverCommand() {}

    /** Returns the CDB of a HAND OVER. */
    public static byte[] cdb() {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).array();
    }
}
