package io.modeldisk.fault.record;

import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.zip.CRC32C;

/**
 * Assembles the records of a {@link RecordBatch} from parts, which can arrive in any order. Returns each record as soon as all
 * its bytes and those of the earlier records have arrived. Checks checksums and positions. Allocates no memory for a batch. Not
 * thread-safe.
 */
public final class RecordAssembly implements AutoCloseable {
    private static final int PART_BYTES = RecordBatch.ALIGNMENT;

    private final DataMemory memory;
    private final MemorySegment segment;
    private final ByteBuffer view;
    private final int capacityBytes;
    private final BitSet arrived;
    private final RecordHeader header = new RecordHeader();
    private final CRC32C scratch = new CRC32C();
    /** The position of the last record that {@link #next} has returned; 0 if the next record can have any position. */
    private long lastPosition;
    private int next;

    /** Creates an assembly for batches of at most {@code capacityBytes} bytes, a multiple of 4096. */
    public RecordAssembly(int capacityBytes) {
        this.capacityBytes = capacityBytes;
        this.memory = DataMemory.allocate(capacityBytes);
        this.segment = memory.slab(0);
        this.view = segment.asByteBuffer();
        this.arrived = new BitSet(capacityBytes / PART_BYTES);
    }

    /** The maximum length of a batch in bytes. */
    public int capacityBytes() {
        return capacityBytes;
    }

    /** Begins a new stream of records. The first record can have any position. */
    public void beginStream() {
        lastPosition = 0;
        next = 0;
        arrived.clear();
    }

    /**
     * Begins the next batch.
     *
     * @throws DamagedRecordException if a record of the last batch is incomplete
     */
    public void beginBatch() throws DamagedRecordException {
        int end = arrivedBytes();
        if (end - next >= PART_BYTES || !RecordHeader.isZero(segment, next, end)) {
            throw damaged("the record is incomplete, because the batch ends at byte " + end);
        }
        next = 0;
        arrived.clear();
    }

    /** Copies a part of the batch. {@code offset} and {@code lengthBytes} are multiples of 4096. */
    public void put(int offset, MemorySegment from, long fromOffset, int lengthBytes) {
        MemorySegment.copy(from, fromOffset, segment, offset, lengthBytes);
        arrived.set(offset / PART_BYTES, (offset + lengthBytes) / PART_BYTES);
    }

    /**
     * Returns the next record, or null if its bytes have not arrived. The record is valid until the next call of another method.
     * Skips each record whose position was returned before, because a batch can be sent twice.
     *
     * @throws DamagedRecordException if the bytes are not a record, or records are missing before this record
     */
    public RecordHeader next() throws DamagedRecordException {
        while (arrivedBytes() - next >= RecordHeader.BYTES) {
            header.wrap(segment, next);
            int end = arrivedBytes();
            if (header.kind() == null && RecordHeader.isZero(segment, next, next + RecordHeader.BYTES)) {
                // The last record of the batch was returned; only zeros follow.
                return null;
            }
            if (header.bodyBytes() < 0 || header.recordBytes() > capacityBytes - next) {
                throw damaged(
                    "the record has " + (header.bodyBytes() & 0xFFFF_FFFFL) + " bytes after its header, but a batch has"
                        + " at most " + capacityBytes + " bytes");
            }
            if (header.recordBytes() > end - next) {
                return null;
            }
            check();
            next += (int) header.recordBytes();
            if (header.position() > lastPosition || lastPosition == 0) {
                lastPosition = header.position();
                return header;
            }
        }
        return null;
    }

    private void check() throws DamagedRecordException {
        String damage = header.damage(view, next, scratch);
        if (damage != null) {
            throw damaged(damage);
        }
        if (lastPosition > 0 && header.position() > lastPosition + 1) {
            throw damaged("the record has position " + header.position() + " instead of " + (lastPosition + 1)
                + "; records are missing");
        }
    }

    /** The number of bytes from the start of the batch to the first byte that has not arrived. */
    private int arrivedBytes() {
        return arrived.nextClearBit(0) * PART_BYTES;
    }

    private DamagedRecordException damaged(String reason) {
        return new DamagedRecordException("at byte " + next + " of the batch: " + reason);
    }

    /** Frees the memory. */
    @Override
    public void close() {
        memory.close();
    }
}
