package io.modeldisk.protocol.scsi;

/**
 * What CHECK CONDITION reports (SPC-4 4.5): sense key, additional sense code and qualifier.
 *
 * @param key the sense key, 0 to 15
 * @param asc the additional sense code, 0 to 255
 * @param ascq its qualifier, 0 to 255
 * @param field the byte of the CDB or parameter list at fault, or -1
 * @param inCdb whether {@code field} is in the CDB
 * @param bit the bit at fault within that byte, or -1
 */
public record Sense(int key, int asc, int ascq, int field, boolean inCdb, int bit) {
    /** The length of fixed-format sense data as {@link #encode} writes it. */
    public static final int ENCODED_BYTES = 18;

    /** No sense. */
    public static final Sense NONE = of(0x0, 0x00, 0x00);

    /** LOGICAL BLOCK ADDRESS OUT OF RANGE. */
    public static final Sense LBA_OUT_OF_RANGE = of(0x5, 0x21, 0x00);

    /** INVALID COMMAND OPERATION CODE. */
    public static final Sense INVALID_OPCODE = of(0x5, 0x20, 0x00).at(0);

    /** LOGICAL UNIT NOT SUPPORTED. */
    public static final Sense LUN_NOT_SUPPORTED = of(0x5, 0x25, 0x00);

    /** PARAMETER LIST LENGTH ERROR. */
    public static final Sense PARAMETER_LIST_LENGTH = of(0x5, 0x1A, 0x00);

    /** NOT READY, the logical unit is not ready, cause not reportable. */
    public static final Sense NOT_READY = of(0x2, 0x04, 0x00);

    /** ABORTED COMMAND, protocol service CRC error: what iSCSI says of data that is damaged, missing or out of order. */
    public static final Sense PROTOCOL_SERVICE_CRC_ERROR = of(0xB, 0x47, 0x05);

    /** ABORTED COMMAND, less or more of a write's data came than was asked for. */
    public static final Sense INCORRECT_AMOUNT_OF_DATA = of(0xB, 0x0C, 0x0D);

    /** ABORTED COMMAND, the memory that a command names is not there, or not enough of it. */
    public static final Sense DATA_OFFSET_ERROR = of(0xB, 0x4B, 0x05);

    /** ABORTED COMMAND, more data came unasked than was agreed on. */
    public static final Sense UNEXPECTED_UNSOLICITED_DATA = of(0xB, 0x0C, 0x0C);

    /** HARDWARE ERROR, internal target failure. */
    public static final Sense INTERNAL_TARGET_FAILURE = of(0x4, 0x44, 0x00);

    /** Sense that points at nothing. */
    public static Sense of(int key, int asc, int ascq) {
        return new Sense(key, asc, ascq, -1, true, -1);
    }

    /** INVALID FIELD IN CDB, at a byte. */
    public static Sense invalidFieldInCdb(int field) {
        return of(0x5, 0x24, 0x00).at(field);
    }

    /** The same sense, pointing at a byte of the CDB. */
    public Sense at(int cdbByte) {
        return new Sense(key, asc, ascq, cdbByte, true, bit);
    }

    /** Writes fixed-format sense data (SPC-4 4.5.3) of {@link #ENCODED_BYTES} bytes. */
    public byte[] encode() {
        byte[] sense = new byte[ENCODED_BYTES];
        sense[0] = 0x70;
        sense[2] = (byte) key;
        sense[7] = ENCODED_BYTES - 8;
        sense[12] = (byte) asc;
        sense[13] = (byte) ascq;
        if (field >= 0) {
            sense[15] = (byte) (0x80 | (inCdb ? 0x40 : 0) | (bit >= 0 ? 0x08 | bit : 0));
            sense[16] = (byte) (field >>> 8);
            sense[17] = (byte) field;
        }
        return sense;
    }

    @Override
    public String toString() {
        return "sense key %Xh, ASC %02Xh, ASCQ %02Xh".formatted(key, asc, ascq);
    }
}
