package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** A reference to memory that must not change until the pin is released. Each pin belongs to one task, which reuses the pin. */
public final class Pin {
    private DataMemory memory;
    private long offset;
    private int lengthBytes;
    private Object holder;

    /** Sets this pin to a piece of {@code memory}. The unit needs {@code holder} to release the piece. Returns this pin. */
    public Pin set(DataMemory memory, long offset, int lengthBytes, Object holder) {
        this.memory = memory;
        this.offset = offset;
        this.lengthBytes = lengthBytes;
        this.holder = holder;
        return this;
    }

    /** Returns the memory that contains the pinned piece. */
    public DataMemory memory() {
        return memory;
    }

    /** Returns the offset of the pinned piece in {@link #memory()}, in bytes. */
    public long offset() {
        return offset;
    }

    /** Returns the length of the pinned piece in bytes. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** Returns the holder given to {@link #set}, or null if the pinned piece needs no release. */
    public Object holder() {
        return holder;
    }
}
