package io.modeldisk.protocol.scsi;

import java.util.HexFormat;

/**
 * The bits of a CDB that have a meaning, as REPORT SUPPORTED OPERATION CODES returns them (SPC-4 6.35.3). All other bits
 * are reserved or unsupported, except some that are ignored. Immutable.
 */
public final class CdbUsage {
    private final byte[] mask;
    private final int ignoredByte;
    private final int ignoredBits;

    private CdbUsage(byte[] mask, int ignoredByte, int ignoredBits) {
        this.mask = mask;
        this.ignoredByte = ignoredByte;
        this.ignoredBits = ignoredBits;
    }

    /**
     * Reads a usage map.
     *
     * @param bytes the operation code and then a mask for each further byte of the CDB, in hexadecimal with spaces between
     * @throws IllegalArgumentException if that is no such text, or not of 6 to 16 bytes
     */
    public static CdbUsage parse(String bytes) {
        byte[] mask = HexFormat.ofDelimiter(" ").parseHex(bytes);
        if (mask.length < 6 || mask.length > Cdb.MAX_BYTES) {
            throw new IllegalArgumentException("a CDB of " + mask.length + " bytes must have 6 to 16");
        }
        return new CdbUsage(mask, 0, 0);
    }

    /** The same, with bits that may be set and are ignored. */
    CdbUsage ignoring(int at, int bits) {
        return new CdbUsage(mask, at, bits);
    }

    /** The operation code. */
    public int opcode() {
        return mask[0] & 0xFF;
    }

    /** The map, its operation code included. */
    byte[] bytes() {
        return mask.clone();
    }

    /**
     * Refuses a CDB that has another bit set.
     *
     * @throws ScsiException INVALID FIELD IN CDB, pointing at the first such bit
     */
    public void check(Cdb cdb) throws ScsiException {
        for (int i = 1; i < mask.length; i++) {
            int wrong = cdb.u8(i) & ~mask[i] & 0xFF & ~(i == ignoredByte ? ignoredBits : 0);
            if (wrong != 0) {
                int bit = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(wrong);
                throw new ScsiException(Sense.invalidFieldInCdb(i, bit),
                    "operation code %02Xh with byte %d = %02Xh".formatted(opcode(), i, cdb.u8(i)));
            }
        }
    }
}
