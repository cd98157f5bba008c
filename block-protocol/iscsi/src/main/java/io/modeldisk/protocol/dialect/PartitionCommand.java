package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command PARTITION of the train unit. PARTITION returns the part of the training data that belongs to the
 * nexus in a round. A learner sends PARTITION only to shard 0, so all learners get the parts of the same partition.
 *
 * <p>In the CDB, byte 0 is C3h, and bytes 8 to 13 are the round, as in PUSH. All other bytes are zero. The
 * command returns 16 bytes: the rank (4 bytes), the number of parts (4 bytes) and the epoch (8 bytes). All numbers are
 * big-endian.
 */
public final class PartitionCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC3;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C3 00 00 00 00 00 00 00 FF FF FF FF FF FF 00 00");

    /** The number of bytes that PARTITION returns. */
    public static final int DATA_BYTES = 2 * Integer.BYTES + Long.BYTES;

    private PartitionCommand() {}

    /** Returns the CDB of PARTITION for this round. */
    public static byte[] cdb(long round) {
        return RoundCdb.cdb(OPCODE, round).array();
    }

    /** Returns the data of PARTITION, encoded from these numbers. */
    public static byte[] data(int rank, int of, long epoch) {
        return ByteBuffer.allocate(DATA_BYTES).putInt(rank).putInt(of).putLong(epoch).array();
    }

    /** Returns the partition that PARTITION returned for this round, decoded from {@code data}. */
    public static Partition partition(long round, byte[] data) {
        ByteBuffer buffer = ByteBuffer.wrap(data);
        return new Partition(round, buffer.getInt(), buffer.getInt(), buffer.getLong());
    }
}
