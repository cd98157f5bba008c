package io.modeldisk.fault.record;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

/**
 * One of the two buffers of a {@link RecordLog}. Records are added under the lock of the log, and their bodies are copied
 * without this lock. All other methods are for the committer's thread.
 */
final class RecordBuffer {
    private final MemorySegment memory;
    private final long start;
    private final RecordBatch batch;
    private final ByteBuffer view;
    private final RecordHeader header = new RecordHeader();
    private final CRC32C checksum = new CRC32C();
    /** The number of records whose bodies are being copied, plus one until the committer waits for the copies. */
    private final AtomicInteger unfinished = new AtomicInteger(1);
    private int used;
    private long firstPosition;
    private long firstNs;
    private long lastPosition;
    private int rosterAt = -1;
    private volatile boolean damaged;

    /** Creates a buffer. {@code batch} gives the memory, and the start of the buffer in this memory. */
    RecordBuffer(RecordBatch batch) {
        this.batch = batch;
        this.start = batch.offset();
        this.memory = batch.memory().slab(start);
        this.view = memory.asByteBuffer();
    }

    int used() {
        return used;
    }

    /** Records the time at which the first record is added. */
    void begins(long nowNs) {
        firstNs = nowNs;
    }

    /** The time at which the first record was added. */
    long firstNs() {
        return firstNs;
    }

    /** The position of the last record. */
    long lastPosition() {
        return lastPosition;
    }

    /** Takes space for a record. Returns the offset of the record in memory. The caller must call {@link #copied} later. */
    long take(int recordBytes, long position, boolean roster) {
        if (used == 0) {
            firstPosition = position;
        }
        if (roster) {
            rosterAt = used;
        }
        lastPosition = position;
        unfinished.incrementAndGet();
        used += recordBytes;
        return start + used - recordBytes;
    }

    /**
     * Records that the body of a record was copied.
     *
     * @param whole false if the copying has failed
     */
    void copied(boolean whole, Thread committer) {
        if (!whole) {
            damaged = true;
        }
        if (unfinished.decrementAndGet() == 0) {
            LockSupport.unpark(committer);
        }
    }

    /**
     * Waits until all bodies are copied, and completes the checksums. No record may be added any more.
     *
     * @throws IllegalStateException if the body of a record could not be copied, so no sink may keep the records
     */
    RecordBatch seal() {
        unfinished.decrementAndGet();
        while (unfinished.get() > 0) {
            LockSupport.park(this);
        }
        if (damaged) {
            throw new IllegalStateException("the body of a record could not be copied");
        }
        int at = (int) start;
        int end = at + used;
        while (at < end) {
            header.wrap(memory, at).seal(view, at, checksum);
            at += (int) header.recordBytes();
        }
        for (; at % RecordBatch.ALIGNMENT != 0; at += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, at, 0);
        }
        return batch.set(used, firstPosition, lastPosition, rosterAt);
    }

    /** Makes the buffer empty. */
    void clear() {
        used = 0;
        rosterAt = -1;
        unfinished.set(1);
    }
}
