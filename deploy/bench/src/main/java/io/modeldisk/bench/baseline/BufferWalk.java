package io.modeldisk.bench.baseline;

import io.modeldisk.bench.load.Walk;
import io.modeldisk.protocol.memory.DataMemory;
import java.nio.ByteBuffer;

/** Goes through a memory in buffers of one size, again and again, without allocating. Not thread-safe. */
final class BufferWalk {
    private final ByteBuffer[] slabs;
    private final Walk walk;
    private final int bytes;

    /** The memory is one slab, or its slabs are multiples of the buffer size. */
    BufferWalk(DataMemory memory, long lengthBytes, int bytes) {
        this.slabs = memory.newViews();
        this.walk = new Walk(lengthBytes, bytes, false);
        this.bytes = bytes;
    }

    ByteBuffer next() {
        long offset = walk.next();
        int within = DataMemory.offsetInSlab(offset);
        return slabs[DataMemory.slabIndex(offset)].clear().position(within).limit(within + bytes);
    }
}
