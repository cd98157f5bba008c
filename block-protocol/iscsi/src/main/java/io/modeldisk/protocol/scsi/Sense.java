package io.modeldisk.protocol.scsi;

import io.modeldisk.platform.text.PlainText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The sense data of a CHECK CONDITION (SPC-4 4.5): sense key, additional sense code and qualifier.
 *
 * @param key the sense key, 0 to 15
 * @param asc the additional sense code, 0 to 255
 * @param ascq the additional sense code qualifier, 0 to 255
 * @param field the offset of the wrong byte in the CDB, or -1
 * @param bit the number of the wrong bit in the wrong byte, or -1
 * @param information the value of the INFORMATION field, less than 2^32, or -1 if there is none
 * @param words the reason in words, in the vendor-specific bytes at the end of the fixed-format sense data, or null
 */
public record Sense(int key, int asc, int ascq, int field, int bit, long information, String words) {
    /** The length of the fixed-format sense data of {@link #encode} without words, in bytes. */
    public static final int ENCODED_BYTES = 18;

    /** The maximum length of fixed-format sense data, in bytes (SPC-4 4.5.1). */
    public static final int MAX_ENCODED_BYTES = 252;

    private static final int FIXED = 0x70;
    private static final int DESCRIPTOR = 0x72;
    private static final int SENSE_KEY_SPECIFIC_VALID = 0x80;
    private static final int IN_CDB = 0x40;
    private static final int BIT_POINTER_VALID = 0x08;

    /** NO SENSE. */
    public static final Sense NONE = of(0x0, 0x00, 0x00);

    /** LOGICAL BLOCK ADDRESS OUT OF RANGE. */
    public static final Sense LBA_OUT_OF_RANGE = of(0x5, 0x21, 0x00);

    /** INVALID COMMAND OPERATION CODE. */
    public static final Sense INVALID_OPCODE = of(0x5, 0x20, 0x00).at(0);

    /** LOGICAL UNIT NOT SUPPORTED. */
    public static final Sense LUN_NOT_SUPPORTED = of(0x5, 0x25, 0x00);

    /** MISCOMPARE DURING VERIFY OPERATION. */
    public static final Sense MISCOMPARE = of(0xE, 0x1D, 0x00);

    /** INVALID FIELD IN COMMAND INFORMATION UNIT: the length or direction of the initiator's data does not match the CDB. */
    public static final Sense INVALID_FIELD_IN_COMMAND_UNIT = of(0x5, 0x0E, 0x03);

    /** ABORTED COMMAND, protocol service CRC error: iSCSI uses this sense for data that is damaged, missing or out of order. */
    public static final Sense PROTOCOL_SERVICE_CRC_ERROR = of(0xB, 0x47, 0x05);

    /** ABORTED COMMAND, incorrect amount of data: the initiator sent less or more data than the target requested. */
    public static final Sense INCORRECT_AMOUNT_OF_DATA = of(0xB, 0x0C, 0x0D);

    /** ABORTED COMMAND, data offset error: the memory that a command refers to is not registered or is too short. */
    public static final Sense DATA_OFFSET_ERROR = of(0xB, 0x4B, 0x05);

    /** ABORTED COMMAND, unexpected unsolicited data: the initiator sent more unsolicited data than was negotiated. */
    public static final Sense UNEXPECTED_UNSOLICITED_DATA = of(0xB, 0x0C, 0x0C);

    /** ACCESS DENIED - NO ACCESS RIGHTS. */
    public static final Sense NO_ACCESS_RIGHTS = of(0x5, 0x20, 0x02);

    /** UNIT ATTENTION, asymmetric access state changed: the state of a target port group has changed. */
    public static final Sense ACCESS_STATE_CHANGED = of(0x6, 0x2A, 0x06);

    /** HARDWARE ERROR, internal target failure. */
    public static final Sense INTERNAL_TARGET_FAILURE = of(0x4, 0x44, 0x00);

    /** Returns a sense without a field pointer. */
    public static Sense of(int key, int asc, int ascq) {
        return new Sense(key, asc, ascq, -1, -1, -1, null);
    }

    /** Returns the sense INVALID FIELD IN CDB with a pointer to a byte. */
    public static Sense invalidFieldInCdb(int field) {
        return of(0x5, 0x24, 0x00).at(field);
    }

    /** Returns the sense INVALID FIELD IN CDB with a pointer to a byte and to its most significant wrong bit. */
    public static Sense invalidFieldInCdb(int field, int bit) {
        return new Sense(0x5, 0x24, 0x00, field, bit, -1, null);
    }

    /** Returns a copy of this sense with a pointer to a byte of the CDB. */
    public Sense at(int cdbByte) {
        return new Sense(key, asc, ascq, cdbByte, bit, information, words);
    }

    /** Returns a copy of this sense with a value of the INFORMATION field. */
    public Sense information(long value) {
        return new Sense(key, asc, ascq, field, bit, value, words);
    }

    /** Returns a copy of this sense with the reason in words. */
    public Sense saying(String reason) {
        return new Sense(key, asc, ascq, field, bit, information, reason);
    }

    /**
     * Returns the fixed-format sense data (SPC-4 4.5.3): {@link #ENCODED_BYTES} bytes, followed by the words. The result is
     * cut at {@link #MAX_ENCODED_BYTES}.
     */
    public byte[] encode() {
        byte[] text = words == null ? new byte[0] : words.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(ENCODED_BYTES + text.length, MAX_ENCODED_BYTES);
        DataBuilder sense = new DataBuilder(ENCODED_BYTES)
            .u8(0, FIXED).u8(2, key).u8(7, length - 8).u8(12, asc).u8(13, ascq);
        if (information >= 0) {
            sense.u8(0, 0x80 | FIXED).u32(3, information);
        }
        if (field >= 0) {
            sense.u8(15, fieldPointerFlags()).u16(16, field);
        }
        return sense.append(Arrays.copyOf(text, length - ENCODED_BYTES)).build();
    }

    /** Returns the words at the end of fixed-format sense data; null if there are none. */
    public static String wordsOf(byte[] encoded) {
        return encoded.length <= ENCODED_BYTES
            ? null
            : new String(encoded, ENCODED_BYTES, encoded.length - ENCODED_BYTES, StandardCharsets.UTF_8);
    }

    /** Returns the descriptor-format sense data (SPC-4 4.5.2). */
    public byte[] encodeDescriptors() {
        DataBuilder sense = new DataBuilder(8).u8(0, DESCRIPTOR).u8(1, key).u8(2, asc).u8(3, ascq);
        if (information >= 0) {
            sense.append(new DataBuilder(12).u8(1, 10).u8(2, 0x80).u64(4, information).build());
        }
        if (field >= 0) {
            sense.append(new DataBuilder(8).u8(0, 2).u8(1, 6).u8(4, fieldPointerFlags()).u16(5, field).build());
        }
        return sense.u8(7, sense.length() - 8).build();
    }

    private int fieldPointerFlags() {
        return SENSE_KEY_SPECIFIC_VALID | IN_CDB | (bit >= 0 ? BIT_POINTER_VALID | bit : 0);
    }

    @Override
    public String toString() {
        return PlainText.format("sense key %Xh, ASC %02Xh, ASCQ %02Xh", key, asc, ascq);
    }
}
