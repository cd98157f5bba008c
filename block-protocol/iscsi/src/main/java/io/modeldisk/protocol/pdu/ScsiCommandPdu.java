package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Command (RFC 7143 section 11.3). */
public final class ScsiCommandPdu extends RequestPdu {
    /** The length of the CDB field. */
    public static final int CDB_BYTES = 16;

    private static final int FLAG_READ = 0x40;
    private static final int FLAG_WRITE = 0x20;
    private static final int ATTRIBUTE_SIMPLE = 1;
    private static final int EXPECTED_DATA_TRANSFER_LENGTH = 20;
    private static final int CDB = 32;

    /** A view of {@code header}. */
    public ScsiCommandPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a command that reads. */
    public ScsiCommandPdu beginRead(int expectedBytes) {
        return begin(FLAG_FINAL | FLAG_READ, expectedBytes);
    }

    /** Begins a command that writes and has no unsolicited data after the command. */
    public ScsiCommandPdu beginWrite(int expectedBytes) {
        return begin(FLAG_FINAL | FLAG_WRITE, expectedBytes);
    }

    /** Begins a command without data. */
    public ScsiCommandPdu beginWithoutData() {
        return begin(FLAG_FINAL, 0);
    }

    private ScsiCommandPdu begin(int flags, int expectedBytes) {
        clear(Opcode.SCSI_COMMAND, flags | ATTRIBUTE_SIMPLE);
        header.putInt(EXPECTED_DATA_TRANSFER_LENGTH, expectedBytes);
        return this;
    }

    /** Whether the initiator expects data. */
    public boolean reads() {
        return (flags() & FLAG_READ) != 0;
    }

    /** Whether the initiator has data to send. */
    public boolean writes() {
        return (flags() & FLAG_WRITE) != 0;
    }

    /** How many bytes the initiator expects to move, unsigned. */
    public long expectedDataTransferBytes() {
        return header.getInt(EXPECTED_DATA_TRANSFER_LENGTH) & 0xFFFFFFFFL;
    }

    /** Byte {@code index} of the CDB, 0 to 15. */
    public int cdb(int index) {
        return header.get(CDB + index) & 0xFF;
    }

    /** Copies the CDB. */
    public void copyCdb(byte[] to) {
        header.get(CDB, to, 0, CDB_BYTES);
    }

    /** Sets byte {@code index} of the CDB. */
    public ScsiCommandPdu cdb(int index, int value) {
        header.put(CDB + index, (byte) value);
        return this;
    }

    /** Sets four bytes of the CDB from {@code index} on. */
    public ScsiCommandPdu cdbInt(int index, int value) {
        header.putInt(CDB + index, value);
        return this;
    }

    /** Sets eight bytes of the CDB from {@code index} on. */
    public ScsiCommandPdu cdbLong(int index, long value) {
        header.putLong(CDB + index, value);
        return this;
    }
}
