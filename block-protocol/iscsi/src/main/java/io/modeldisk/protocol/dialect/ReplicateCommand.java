package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The vendor-specific command REPLICATE of LUN 2 of a backup. A primary sends REPLICATE before its first records. From then on,
 * the backup accepts records only from this nexus, and only of this epoch.
 *
 * <p>In the CDB, byte 0 is C5h, bytes 2 to 9 are the epoch of the primary, and bytes 10 to 13 are the CRC32C of
 * the {@link ModelFacts} of the primary as JSON. All other bytes are zero. The command returns 12 bytes: the position of the last
 * record that the backup has applied, and the maximum length of a batch of records in bytes, a multiple of 4096.
 */
public final class ReplicateCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC5;

    /** The logical unit that accepts records. */
    public static final int LUN = 2;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C5 00 FF FF FF FF FF FF FF FF FF FF FF FF 00 00");

    /** The number of bytes that REPLICATE returns. */
    public static final int DATA_BYTES = Long.BYTES + Integer.BYTES;

    private static final int EPOCH = 2;
    private static final int FACTS = 10;

    /**
     * The data that a backup returns for REPLICATE.
     *
     * @param position the position of the last record that the backup has applied; 0 if there is none
     * @param batchBytes the maximum length of a batch of records in bytes
     */
    public record Answer(long position, int batchBytes) {}

    private ReplicateCommand() {}

    /** Returns the CDB of a REPLICATE by the primary of this epoch. */
    public static byte[] cdb(long epoch, ModelFacts facts) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).putLong(EPOCH, epoch)
            .putInt(FACTS, checksum(facts)).array();
    }

    /** Returns the epoch of the primary that has sent the command. */
    public static long epoch(Cdb cdb) {
        return cdb.u64(EPOCH);
    }

    /** Returns whether the primary that has sent the command serves a shard with these facts. */
    public static boolean isOf(Cdb cdb, ModelFacts facts) {
        return cdb.u32(FACTS) == Integer.toUnsignedLong(checksum(facts));
    }

    private static int checksum(ModelFacts facts) {
        CRC32C checksum = new CRC32C();
        // The checksum excludes the directory, because each replica can have a different one, and earlier versions do not report
        // it.
        checksum.update(facts.in(null).toJson());
        return (int) checksum.getValue();
    }

    /** Encodes the data that REPLICATE returns. */
    public static byte[] data(long position, int batchBytes) {
        return ByteBuffer.allocate(DATA_BYTES).putLong(position).putInt(batchBytes).array();
    }

    /** Decodes the data that REPLICATE returned. */
    public static Answer answer(byte[] data) {
        ByteBuffer buffer = ByteBuffer.wrap(data);
        return new Answer(buffer.getLong(), buffer.getInt());
    }
}
