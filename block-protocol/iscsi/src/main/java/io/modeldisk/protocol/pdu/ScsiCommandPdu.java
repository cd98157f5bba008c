package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Command (RFC 7143 section 11.3). */
public final class ScsiCommandPdu extends RequestPdu {
    /** The length of the CDB field in bytes. */
    public static final int CDB_BYTES = 16;

    private static final int FLAG_READ = 0x40;
    private static final int FLAG_WRITE = 0x20;
    private static final int ATTRIBUTE_SIMPLE = 1;
    private static final int EXPECTED_DATA_TRANSFER_LENGTH = 20;
    private static final int CDB = 32;

    /** Creates a view of {@code header}. */
    public ScsiCommandPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a SCSI Command for a read. */
    public ScsiCommandPdu beginRead(int expectedBytes) {
        return begin(FLAG_FINAL | FLAG_READ, expectedBytes);
    }

    /** Fills the header with a SCSI Command for a write without unsolicited Data-Out PDUs. */
    public ScsiCommandPdu beginWrite(int expectedBytes) {
        return begin(FLAG_FINAL | FLAG_WRITE, expectedBytes);
    }

    /** Fills the header with a SCSI Command without data. */
    public ScsiCommandPdu beginWithoutData() {
        return begin(FLAG_FINAL, 0);
    }

    private ScsiCommandPdu begin(int flags, int expectedBytes) {
        clear(Opcode.SCSI_COMMAND, flags | ATTRIBUTE_SIMPLE, 0);
        header.putInt(EXPECTED_DATA_TRANSFER_LENGTH, expectedBytes);
        return this;
    }

    /** Returns whether the initiator expects data. */
    public boolean reads() {
        return (flags() & FLAG_READ) != 0;
    }

    /** Returns whether the initiator sends data. */
    public boolean writes() {
        return (flags() & FLAG_WRITE) != 0;
    }

    /** The number of bytes that the initiator expects to transfer, unsigned. */
    public long expectedDataTransferBytes() {
        return header.getInt(EXPECTED_DATA_TRANSFER_LENGTH) & 0xFFFFFFFFL;
    }

    /** Copies the CDB into an array. */
    public void copyCdb(byte[] to) {
        header.get(CDB, to, 0, CDB_BYTES);
    }

    /** Sets byte {@code index} of the CDB. */
    public ScsiCommandPdu cdb(int index, int value) {
        header.put(CDB + index, (byte) value);
        return this;
    }

    /** Sets four bytes of the CDB from offset {@code index}. */
    public ScsiCommandPdu cdbInt(int index, int value) {
        header.putInt(CDB + index, value);
        return this;
    }

    /** Sets eight bytes of the CDB from offset {@code index}. */
    public ScsiCommandPdu cdbLong(int index, long value) {
        header.putLong(CDB + index, value);
        return this;
    }
}
