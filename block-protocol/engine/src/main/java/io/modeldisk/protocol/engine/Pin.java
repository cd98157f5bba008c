package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** A piece of memory that keeps its contents until the pin is released. A task owns the pin and reuses it. */
public final class Pin {
    private DataMemory memory;
    private long offset;
    private int lengthBytes;
    private Object holder;
    private int detail;

    /** Sets the memory of this pin. {@code LogicalUnit.unpin} may read {@code holder} and {@code detail} from the pin. */
    public Pin set(DataMemory memory, long offset, int lengthBytes, Object holder, int detail) {
        this.memory = memory;
        this.offset = offset;
        this.lengthBytes = lengthBytes;
        this.holder = holder;
        this.detail = detail;
        return this;
    }

    /** Returns the memory of the piece. */
    public DataMemory memory() {
        return memory;
    }

    /** Returns the offset of the piece in the memory, in bytes. */
    public long offset() {
        return offset;
    }

    /** Returns the length of the piece in bytes. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** Returns the holder given to {@link #set}, or null if the memory needs no release. */
    public Object holder() {
        return holder;
    }

    /** Returns the detail given to {@link #set}. */
    public int detail() {
        return detail;
    }
}
