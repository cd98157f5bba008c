package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The vendor-specific command TENSORS of the train unit. TENSORS returns a part of the text with the names and shapes of the
 * model's tensors. The text is the same on every shard.
 *
 * <p>In the CDB, byte 0 is C9h, and bytes 2 to 9 are the offset of the part in bytes. All other bytes are zero.
 * The command returns the length of the text (8 bytes), and up to {@value #PART_BYTES} bytes of the text. All numbers are
 * big-endian.
 */
public final class TensorsCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC9;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C9 00 FF FF FF FF FF FF FF FF 00 00 00 00 00 00");

    /** The maximum number of bytes of the text in one answer. */
    public static final int PART_BYTES = 32 << 10;

    /** The maximum number of bytes that TENSORS returns. */
    public static final int DATA_BYTES = Long.BYTES + PART_BYTES;

    /** The maximum length of the text: that of the header of a safetensors file. */
    public static final int MAX_TEXT_BYTES = 100_000_000;

    private static final int OFFSET_FIELD = 2;

    private TensorsCommand() {}

    /** Returns the CDB for the part that starts at this offset. */
    public static byte[] cdb(long offset) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).putLong(OFFSET_FIELD, offset).array();
    }

    /** Returns the data that TENSORS returns for a CDB. A part that starts after the end of the text is empty. */
    public static byte[] data(Cdb cdb, byte[] text) {
        long offset = cdb.u64(OFFSET_FIELD);
        int from = offset < 0 || offset > text.length ? text.length : (int) offset;
        byte[] part = Arrays.copyOfRange(text, from, Math.min(text.length, from + PART_BYTES));
        return ByteBuffer.allocate(Long.BYTES + part.length).putLong(text.length).put(part).array();
    }
}
