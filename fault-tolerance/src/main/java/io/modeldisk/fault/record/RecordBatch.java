package io.modeldisk.fault.record;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * Records that lie one after another in memory, and that become durable together. The first record is at {@link #offset()}, which
 * is a multiple of 4096. From the end of the records to the next multiple of 4096, the memory contains zeros, so a sink can
 * write whole pages. The object is reused for a later batch when all sinks have finished this batch.
 */
public final class RecordBatch {
    /** A batch begins, and the zeros behind it end, at a multiple of this number of bytes. */
    public static final int ALIGNMENT = 4096;

    private final DataMemory memory;
    private final long offset;
    private int lengthBytes;
    private long firstPosition;
    private long lastPosition;
    private int rosterAt;

    /** Creates an empty batch at {@code offset} of the memory. */
    public RecordBatch(DataMemory memory, long offset) {
        this.memory = memory;
        this.offset = offset;
    }

    /**
     * Sets the contents.
     *
     * @param rosterOffset the value of {@link #rosterAt()}
     */
    public RecordBatch set(int length, long first, long last, int rosterOffset) {
        lengthBytes = length;
        firstPosition = first;
        lastPosition = last;
        rosterAt = rosterOffset;
        return this;
    }

    /** The memory that contains the records. */
    public DataMemory memory() {
        return memory;
    }

    /** The offset of the first record in {@link #memory()}. The batch lies in one slab. */
    public long offset() {
        return offset;
    }

    /** The length of all records in bytes, a multiple of 8, more than 0. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** The position of the first record. */
    public long firstPosition() {
        return firstPosition;
    }

    /** The position of the last record. */
    public long lastPosition() {
        return lastPosition;
    }

    /** The offset of the last {@link RecordKind#ROSTER} from the start of the batch, in bytes; -1 if the batch has none. */
    public int rosterAt() {
        return rosterAt;
    }
}
