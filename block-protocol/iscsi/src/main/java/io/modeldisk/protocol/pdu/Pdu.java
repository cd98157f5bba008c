package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A flyweight over the 48-byte Basic Header Segment that starts every PDU (RFC 7143 section 11.2.1), with the fields that all
 * PDUs have at the same offset. Subclasses add the fields of one kind of PDU. Objects of several subclasses can view the same
 * buffer.
 *
 * <p>Not thread-safe: one thread owns the buffer. Reads and writes do not change the position of the buffer.
 */
public class Pdu {
    /** The length of the Basic Header Segment. */
    public static final int BHS_BYTES = 48;

    /** The reserved tag, which means no task or no transfer. */
    public static final int RESERVED_TAG = 0xFFFFFFFF;

    /** The final bit (F) of byte 1. */
    public static final int FLAG_FINAL = 0x80;
    /** The bit of byte 1 that is set if more text of a login or of a text exchange follows in another PDU. */
    public static final int FLAG_CONTINUE = 0x40;
    /** The offset of the target transfer tag in the PDUs that have one. */
    protected static final int TARGET_TRANSFER_TAG = 20;
    /** The offset of DataSN or R2TSN: the number of a Data-In, Data-Out or R2T PDU in its sequence. */
    protected static final int DATA_SN = 36;
    /** The offset of the field Buffer Offset of a Data-In, Data-Out or R2T PDU. */
    protected static final int BUFFER_OFFSET = 40;

    private static final int DIGEST_BYTES = 4;
    private static final int OPCODE = 0;
    private static final int FLAGS = 1;
    private static final int TOTAL_AHS_LENGTH = 4;
    private static final int LUN = 8;
    private static final int INITIATOR_TASK_TAG = 16;
    private static final int IMMEDIATE_BIT = 0x40;
    private static final int OPCODE_MASK = 0x3F;

    /** The bytes of the header. */
    protected final ByteBuffer header;

    /** Creates a view of {@code header}, whose byte order must be big-endian. */
    public Pdu(ByteBuffer header) {
        if (header.order() != ByteOrder.BIG_ENDIAN || header.capacity() < BHS_BYTES) {
            throw new IllegalArgumentException(
                "the header has " + header.capacity() + " bytes in order " + header.order()
                    + "; it must have at least 48 bytes in big-endian order");
        }
        this.header = header;
    }

    /** Allocates a header outside the heap, with space for its digest at the end. */
    public static ByteBuffer newHeader() {
        return ByteBuffer.allocateDirect(BHS_BYTES + DIGEST_BYTES);
    }

    /** Returns the buffer of the header. */
    public final ByteBuffer header() {
        return header;
    }

    /** Zeroes the header and sets opcode, flags and initiator task tag. */
    protected final void clear(int opcode, int flags, int initiatorTaskTag) {
        for (int i = 0; i < BHS_BYTES; i += Long.BYTES) {
            header.putLong(i, 0);
        }
        header.put(OPCODE, (byte) opcode).put(FLAGS, (byte) flags).putInt(INITIATOR_TASK_TAG, initiatorTaskTag);
    }

    /** The opcode without the immediate bit. */
    public final int opcode() {
        return header.get(OPCODE) & OPCODE_MASK;
    }

    /** Returns whether the request is for immediate delivery, outside the order of command numbers. */
    public final boolean immediate() {
        return (header.get(OPCODE) & IMMEDIATE_BIT) != 0;
    }

    /** Sets the immediate bit. */
    public final void setImmediate() {
        header.put(OPCODE, (byte) (header.get(OPCODE) | IMMEDIATE_BIT));
    }

    /** Byte 1: flags whose meaning depends on the opcode. */
    public final int flags() {
        return header.get(FLAGS) & 0xFF;
    }

    /** Returns whether the final bit is set. */
    public final boolean isFinal() {
        return (flags() & FLAG_FINAL) != 0;
    }

    /** Returns whether more text follows in another PDU. */
    public final boolean continues() {
        return (flags() & FLAG_CONTINUE) != 0;
    }

    /** The length of the additional header segments, in bytes. */
    public final int ahsBytes() {
        return (header.get(TOTAL_AHS_LENGTH) & 0xFF) * 4;
    }

    /** The length of the data segment without its padding. */
    public final int dataSegmentBytes() {
        return header.getInt(TOTAL_AHS_LENGTH) & 0xFFFFFF;
    }

    /** Sets the length of the data segment, and the length of additional header segments to 0. */
    public final void dataSegmentBytes(int bytes) {
        header.putInt(TOTAL_AHS_LENGTH, bytes);
    }

    /** Returns the number of bytes that pad {@code length} to a multiple of four. */
    public static int paddingOf(int length) {
        return -length & 3;
    }

    /** The 8-byte LUN field, not decoded. */
    public final long lunField() {
        return header.getLong(LUN);
    }

    /** Sets the 8-byte LUN field. */
    public final void lunField(long lun) {
        header.putLong(LUN, lun);
    }

    /**
     * Returns the number of the logical unit in a single-level LUN with peripheral or flat addressing (SAM-5 4.7); -1 for other
     * LUNs.
     */
    public static int decodeLun(long lunField) {
        int method = (int) (lunField >>> 62);
        if (method > 1 || (lunField & 0x0000FFFFFFFFFFFFL) != 0) {
            return -1;
        }
        int lun = (int) (lunField >>> 48) & 0x3FFF;
        return method == 0 && lun > 0xFF ? -1 : lun;
    }

    /** Returns the LUN field for the number of a logical unit, 0 to 255 (peripheral device addressing). */
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

    /** The target transfer tag of a PDU that has one; the reserved tag if the PDU belongs to no transfer or exchange. */
    public final int targetTransferTag() {
        return header.getInt(TARGET_TRANSFER_TAG);
    }

    /** The position of the data of a Data-In, Data-Out or R2T PDU in the data of the task, unsigned. */
    public final long bufferOffset() {
        return header.getInt(BUFFER_OFFSET) & 0xFFFFFFFFL;
    }
}
