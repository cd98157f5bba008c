package io.modeldisk.protocol.scsi;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.text.PlainText;
import java.util.HexFormat;

/**
 * The bits of a CDB that have a meaning, as REPORT SUPPORTED OPERATION CODES returns them (SPC-4 6.35.3). All other bits
 * are reserved or unsupported, except for a few bits that are ignored. Immutable.
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
     * Parses a usage map.
     *
     * @param bytes the operation code and a mask for each other byte of the CDB, in hexadecimal, separated by spaces
     * @throws IllegalArgumentException if the text is malformed or does not have 6 to 16 bytes
     */
    public static CdbUsage parse(String bytes) {
        byte[] mask = HexFormat.ofDelimiter(" ").parseHex(bytes);
        Arguments.require(mask.length >= 6 && mask.length <= Cdb.MAX_BYTES,
            "the CDB '" + bytes + "' has " + mask.length + " bytes; it must have 6 to 16");
        return new CdbUsage(mask, 0, 0);
    }

    /** Returns a copy of this usage map that ignores the given bits of byte {@code at}: a CDB may set them without an effect. */
    CdbUsage ignoring(int at, int bits) {
        return new CdbUsage(mask, at, bits);
    }

    /** The operation code. */
    public int opcode() {
        return mask[0] & 0xFF;
    }

    /** Returns a copy of the map, which starts with the operation code. */
    byte[] bytes() {
        return mask.clone();
    }

    /**
     * Checks that a CDB has no bit set that is reserved or unsupported.
     *
     * @throws ScsiException INVALID FIELD IN CDB, with a pointer to the first wrong bit
     */
    public void check(Cdb cdb) throws ScsiException {
        for (int i = 1; i < mask.length; i++) {
            int wrong = cdb.u8(i) & ~mask[i] & 0xFF & ~(i == ignoredByte ? ignoredBits : 0);
            if (wrong != 0) {
                int bit = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(wrong);
                throw new ScsiException(Sense.invalidFieldInCdb(i, bit),
                    PlainText.format(
                        "byte %d of the CDB with operation code %02Xh is %02Xh, which has a reserved or unsupported bit",
                        i, opcode(), cdb.u8(i)));
            }
        }
    }
}
