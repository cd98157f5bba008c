package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.ScsiCommand;
import java.util.Arrays;

/** The INQUIRY command that reads one of modeldisk's VPD pages, and its data. */
public final class VpdPage {
    /** The allocation length in the command: the maximum that INQUIRY allows. */
    public static final int DATA_BYTES = 0xFFFF;

    private static final int HEADER_BYTES = 4;

    private VpdPage() {}

    /** Returns the CDB that reads a page. */
    public static byte[] cdb(int code) {
        return new byte[]{(byte) ScsiCommand.INQUIRY.opcode(), 1, (byte) code, (byte) (DATA_BYTES >>> Byte.SIZE),
            (byte) DATA_BYTES, 0};
    }

    /** Returns the contents of a page from the data of INQUIRY; null if the data is not this page. */
    public static byte[] content(int code, byte[] data) {
        int length = Byte.toUnsignedInt(data[2]) << Byte.SIZE | Byte.toUnsignedInt(data[3]);
        return data[1] != (byte) code || length > data.length - HEADER_BYTES
            ? null
            : Arrays.copyOfRange(data, HEADER_BYTES, HEADER_BYTES + length);
    }
}
