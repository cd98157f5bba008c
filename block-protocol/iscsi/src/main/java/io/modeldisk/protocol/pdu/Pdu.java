package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A flyweight over the 48-byte Basic Header Segment that starts every PDU (RFC 7143 section 11.2.1), with the fields that all
 * PDUs have at the same place. Subclasses add their own; all of them may be laid over the same buffer.
 *
 * <p>Not thread-safe: it is a view of a buffer that one thread owns. Uses absolute positions only.
 */
public class Pdu {
    /** The length of the Basic Header Segment. */
    public static final int BHS_BYTES = 48;

    /** The reserved tag: no task, or no transfer. */
    public static final int RESERVED_TAG = 0xFFFFFFFF;

    /** The final bit of byte 1. */
    public static final int FLAG_FINAL = 0x80;

    private static final int DIGEST_BYTES = 4;
    private static final int OPCODE = 0;
    private static final int FLAGS = 1;
    private static final int TOTAL_AHS_LENGTH = 4;
    private static final int LUN = 8;
    private static final int INITIATOR_TASK_TAG = 16;
    private static final int IMMEDIATE_BIT = 0x40;
    private static final int OPCODE_MASK = 0x3F;

    /** The header's bytes. */
    protected final ByteBuffer header;

    /** A view of {@code header}, whose byte order must be big-endian. */
    public Pdu(ByteBuffer header) {
        if (header.order() != ByteOrder.BIG_ENDIAN || header.capacity() < BHS_BYTES) {
            throw new IllegalArgumentException("a header must have at least 48 bytes in big-endian order");
        }
        this.header = header;
    }

    /** A new header outside the heap, with room for its digest after it. */
    public static ByteBuffer newHeader() {
        return ByteBuffer.allocateDirect(BHS_BYTES + DIGEST_BYTES);
    }

    /** The bytes below this view. */
    public final ByteBuffer header() {
        return header;
    }

    /** Zeroes the header and sets opcode and flags. */
    protected final void clear(int opcode, int flags) {
        for (int i = 0; i < BHS_BYTES; i += Long.BYTES) {
            header.putLong(i, 0);
        }
        header.put(OPCODE, (byte) opcode).put(FLAGS, (byte) flags);
    }

    /** The opcode, without the immediate bit. */
    public final int opcode() {
        return header.get(OPCODE) & OPCODE_MASK;
    }

    /** Whether the command is for immediate delivery: outside the order of command numbers. */
    public final boolean immediate() {
        return (header.get(OPCODE) & IMMEDIATE_BIT) != 0;
    }

    /** Sets the immediate bit. */
    public final void setImmediate() {
        header.put(OPCODE, (byte) (header.get(OPCODE) | IMMEDIATE_BIT));
    }

    /** Byte 1: flags of the PDU's own meaning. */
    public final int flags() {
        return header.get(FLAGS) & 0xFF;
    }

    /** Whether the final bit is set. */
    public final boolean isFinal() {
        return (flags() & FLAG_FINAL) != 0;
    }

    /** The length of the additional header segments, in bytes. */
    public final int ahsBytes() {
        return (header.get(TOTAL_AHS_LENGTH) & 0xFF) * 4;
    }

    /** The length of the data segment without its padding. */
    public final int dataSegmentBytes() {
        return header.getInt(TOTAL_AHS_LENGTH) & 0xFFFFFF;
    }

    /** Sets the length of the data segment; there are no additional headers. */
    public final void dataSegmentBytes(int bytes) {
        header.putInt(TOTAL_AHS_LENGTH, bytes);
    }

    /** How many bytes pad {@code length} to a multiple of four. */
    public static int paddingOf(int length) {
        return -length & 3;
    }

    /** The 8-byte LUN field as it is. */
    public final long lunField() {
        return header.getLong(LUN);
    }

    /** Sets the 8-byte LUN field. */
    public final void lunField(long lun) {
        header.putLong(LUN, lun);
    }

    /** The unit's number, for single-level LUNs of either addressing method (SAM-5 4.7); -1 for any other form. */
    public static int decodeLun(long lunField) {
        int method = (int) (lunField >>> 62);
        if (method > 1 || (lunField & 0x0000FFFFFFFFFFFFL) != 0) {
            return -1;
        }
        int lun = (int) (lunField >>> 48) & 0x3FFF;
        return method == 0 && lun > 0xFF ? -1 : lun;
    }

    /** The LUN field of a unit's number from 0 to 255 (peripheral device addressing). */
    public static long encodeLun(int lun) {
        return (long) lun << 48;
    }

    /** The initiator task tag. */
    public final int initiatorTaskTag() {
        return header.getInt(INITIATOR_TASK_TAG);
    }

    /** Sets the initiator task tag. */
    public final void initiatorTaskTag(int tag) {
        header.putInt(INITIATOR_TASK_TAG, tag);
    }

    /** Whether a PDU with this opcode carries a command number at byte 24: one that an initiator sends, but for Data-Out. */
    public static boolean isRequest(int opcode) {
        return opcode < Opcode.NOP_IN && opcode != Opcode.DATA_OUT && opcode != Opcode.SNACK_REQUEST;
    }
}
