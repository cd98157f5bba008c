package io.modeldisk.protocol.datamover.iser;

import java.nio.ByteBuffer;

/**
 * The iSER header of a message, before the Basic Header Segment (RFC 7145 section 9.2). The header contains the kind of the
 * message, and the memory that the initiator advertises for a command. All positions count from the start of the message.
 */
final class IserHeader {
    /** The length of the header in bytes. */
    static final int BYTES = 28;

    /** The opcode of an iSCSI control-type PDU, which is 1 in the upper four bits. */
    private static final int CONTROL = 0x10;
    private static final int OPCODE_MASK = 0xF0;
    private static final int WRITE_STAG_VALID = 0x08;
    private static final int READ_STAG_VALID = 0x04;

    private static final int WRITE_STAG = 4;
    private static final int WRITE_BASE_OFFSET = 8;
    private static final int READ_STAG = 16;
    private static final int READ_BASE_OFFSET = 20;

    private IserHeader() {}

    /** Writes the header of a message that advertises no memory. */
    static void begin(ByteBuffer message) {
        message.putInt(0, CONTROL << 24).putLong(WRITE_STAG, 0).putLong(WRITE_STAG + 8, 0).putLong(READ_BASE_OFFSET, 0);
    }

    /** Advertises the memory from which the target reads the data of a write. */
    static void advertiseWrite(ByteBuffer message, int stag, long baseOffset) {
        message.put(0, (byte) (message.get(0) | WRITE_STAG_VALID)).putInt(WRITE_STAG, stag)
            .putLong(WRITE_BASE_OFFSET, baseOffset);
    }

    /** Advertises the memory to which the target writes the data of a read. */
    static void advertiseRead(ByteBuffer message, int stag, long baseOffset) {
        message.put(0, (byte) (message.get(0) | READ_STAG_VALID)).putInt(READ_STAG, stag)
            .putLong(READ_BASE_OFFSET, baseOffset);
    }

    static boolean isControl(ByteBuffer message) {
        return (message.get(0) & OPCODE_MASK) == CONTROL;
    }

    static boolean advertisesWrite(ByteBuffer message) {
        return (message.get(0) & WRITE_STAG_VALID) != 0;
    }

    static boolean advertisesRead(ByteBuffer message) {
        return (message.get(0) & READ_STAG_VALID) != 0;
    }

    static int writeStag(ByteBuffer message) {
        return message.getInt(WRITE_STAG);
    }

    static long writeBaseOffset(ByteBuffer message) {
        return message.getLong(WRITE_BASE_OFFSET);
    }

    static int readStag(ByteBuffer message) {
        return message.getInt(READ_STAG);
    }

    static long readBaseOffset(ByteBuffer message) {
        return message.getLong(READ_BASE_OFFSET);
    }
}
