package io.modeldisk.bench.baseline;

import io.modeldisk.bench.load.Offsets;
import io.modeldisk.protocol.memory.DataMemory;
import java.nio.ByteBuffer;

/**
 * Divides a memory into buffers of one size, and returns the buffers one after another. After the last buffer, starts again
 * with the first buffer. Allocates memory only in the constructor. Not thread-safe.
 */
final class BufferWalk {
    private final ByteBuffer[] slabs;
    private final Offsets walk;
    private final int bytes;

    /** Divides a memory into buffers. The memory must have one slab, or a slab size that is a multiple of {@code bytes}. */
    BufferWalk(DataMemory memory, long lengthBytes, int bytes) {
        this.slabs = memory.newViews();
        this.walk = new Offsets(lengthBytes, bytes, false);
        this.bytes = bytes;
    }

    ByteBuffer next() {
        long offset = walk.next();
        int within = DataMemory.offsetInSlab(offset);
        return slabs[DataMemory.slabIndex(offset)].clear().position(within).limit(within + bytes);
    }
}
