package io.modeldisk.fault.journal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The {@value #BYTES} bytes before each batch of records in a segment. A batch is written only after the previous batch is on
 * disk, so a batch header behind damaged bytes proves that the damaged batch had been on disk. All fields are little endian.
 *
 * <pre>
 *  0 long mark of the segment     8 long first position     16 long last position     24 int length of the records in bytes
 * 28 zeros                       60 int  CRC32C of all bytes before
 * </pre>
 *
 * @param firstPosition the position of the first record
 * @param lastPosition the position of the last record; in the header that an orderly stop adds, {@code firstPosition - 1}
 * @param lengthBytes the length of the records, which follow the header; 0 in the header that an orderly stop adds
 */
record BatchHeader(long firstPosition, long lastPosition, int lengthBytes) {
    static final int BYTES = 64;
    /** Each batch begins at a multiple of this number of bytes, so a write never touches a page of a batch already on disk. */
    static final int ALIGNMENT = 4096;

    private static final int CHECKSUM = BYTES - Integer.BYTES;

    /** Writes the header into the first {@value #BYTES} bytes of a buffer. */
    static void put(ByteBuffer bytes, long mark, long firstPosition, long lastPosition, int lengthBytes) {
        bytes.order(ByteOrder.LITTLE_ENDIAN).clear();
        bytes.putLong(0, mark).putLong(8, firstPosition).putLong(16, lastPosition).putInt(24, lengthBytes);
        bytes.putInt(CHECKSUM, checksum(bytes, CHECKSUM));
    }

    /** Reads a header at an index of a buffer. Returns null if there is no undamaged header of this segment. */
    static BatchHeader get(ByteBuffer bytes, int at, long mark) {
        if (bytes.limit() - at < BYTES) {
            return null;
        }
        ByteBuffer header = bytes.slice(at, BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (header.getLong(0) != mark || header.getInt(CHECKSUM) != checksum(header, CHECKSUM)
            || header.getInt(24) < 0) {
            return null;
        }
        return new BatchHeader(header.getLong(8), header.getLong(16), header.getInt(24));
    }

    /** Returns the CRC32C of the first {@code end} bytes of a buffer. */
    static int checksum(ByteBuffer bytes, int end) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.duplicate().position(0).limit(end));
        return (int) checksum.getValue();
    }

    /** The length of a batch in a segment: header, records and zeros up to the next multiple of {@link #ALIGNMENT}. */
    static long paddedBytes(long lengthBytes) {
        return BYTES + lengthBytes + ALIGNMENT - 1 & -ALIGNMENT;
    }
}
