package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** A piece of memory that keeps its contents until it is unpinned. Reused; owned by one task. */
public final class Pin {
    private DataMemory memory;
    private long offset;
    private int lengthBytes;
    private Object holder;
    private int detail;

    /** Sets the memory; the logical unit finds {@code holder} and {@code detail} again in {@code unpin}. */
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

    /** The offset of the piece in the memory. */
    public long offset() {
        return offset;
    }

    /** The length of the piece. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** The holder given to {@link #set}; null for memory that need not be released. */
    public Object holder() {
        return holder;
    }

    /** The detail given to {@link #set}. */
    public int detail() {
        return detail;
    }
}
