package io.modeldisk.fault.record;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Reads the records in a range of memory, one after another, and checks their checksums and positions. Skips the zeros between
 * the end of a batch and the next multiple of {@value RecordBatch#ALIGNMENT} bytes from the start of the range. Not thread-safe.
 */
public final class RecordReader {
    private final MemorySegment records;
    private final ByteBuffer view;
    private final CRC32C scratch = new CRC32C();
    private final RecordHeader header = new RecordHeader();
    private long nextPosition;
    private long current = -1;
    private long next;

    /**
     * Creates a reader.
     *
     * @param records the memory, from the first record to the end of the last
     * @param firstPosition the expected position of the first record; 0 to accept any position
     */
    public RecordReader(MemorySegment records, long firstPosition) {
        this.records = records;
        this.view = records.asByteBuffer();
        this.nextPosition = firstPosition;
    }

    /**
     * Moves to the next record.
     *
     * @return the record; null at the end of the range, or if only zeros follow
     * @throws DamagedRecordException if the bytes at {@link #nextOffset()} are not the next record
     */
    public RecordHeader next() throws DamagedRecordException {
        while (next < records.byteSize() && next % RecordBatch.ALIGNMENT != 0 && isPadding()) {
            next = Math.min(records.byteSize(), (next / RecordBatch.ALIGNMENT + 1) * RecordBatch.ALIGNMENT);
        }
        long left = records.byteSize() - next;
        if (isZero(left)) {
            return null;
        }
        if (left < RecordHeader.BYTES) {
            throw damaged("the header is incomplete: only " + left + " bytes are left");
        }
        header.wrap(records, next);
        if (header.bodyBytes() < 0 || header.recordBytes() > left) {
            throw damaged("the record is incomplete: it has " + (header.bodyBytes() & 0xFFFF_FFFFL)
                + " bytes after its header, but only " + (left - RecordHeader.BYTES) + " are left");
        }
        String damage = header.damage(view, (int) next, scratch);
        if (damage != null) {
            throw damaged(damage);
        }
        if (nextPosition > 0 && header.position() != nextPosition) {
            throw damaged("the record has position " + header.position() + " instead of " + nextPosition
                + "; records are missing");
        }
        nextPosition = header.position() + 1;
        current = next;
        next += header.recordBytes();
        return header;
    }

    /** True if only zeros follow up to the next aligned offset. A header is never all zeros, because its kind is not 0. */
    private boolean isPadding() {
        return isZero(Math.min(records.byteSize() - next, RecordBatch.ALIGNMENT - next % RecordBatch.ALIGNMENT));
    }

    /** True if the next bytes are zeros. */
    private boolean isZero(long lengthBytes) {
        return RecordHeader.isZero(records, next, next + lengthBytes);
    }

    private DamagedRecordException damaged(String reason) {
        return new DamagedRecordException("at byte " + next + ": " + reason);
    }

    /** The offset of the record that {@link #next()} has returned last, in bytes from the start of the range. */
    public long offset() {
        return current;
    }

    /** The offset of the next record, or of the end of the records. */
    public long nextOffset() {
        return next;
    }

    /** The position that the next record must have; 0 if it can have any position. */
    public long nextPosition() {
        return nextPosition;
    }
}
