package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** A piece of memory that keeps its contents until it is unpinned. Reused; owned by one task. */
public final class Pin {
    private DataMemory memory;
    private long offset;
    private int lengthBytes;
    private Object holder;
    private int detail;

    /** Fills in where the memory is; {@code holder} and {@code detail} are the logical unit's own, for {@code unpin}. */
    public Pin set(DataMemory memory, long offset, int lengthBytes, Object holder, int detail) {
        this.memory = memory;
        this.offset = offset;
        this.lengthBytes = lengthBytes;
        this.holder = holder;
        this.detail = detail;
        return this;
    }

    /** The memory. */
    public DataMemory memory() {
        return memory;
    }

    /** Where in the memory the piece starts. */
    public long offset() {
        return offset;
    }

    /** How long the piece is. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** What the logical unit gave to {@link #set}; null for memory that needs no letting go. */
    public Object holder() {
        return holder;
    }

    /** What the logical unit gave to {@link #set}. */
    public int detail() {
        return detail;
    }
}
