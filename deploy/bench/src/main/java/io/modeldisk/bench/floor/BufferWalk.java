package io.modeldisk.bench.floor;

import io.modeldisk.bench.load.Walk;
import io.modeldisk.protocol.memory.DataMemory;
import java.nio.ByteBuffer;

/** Goes round a memory in buffers of one size, without making an object for each. Not thread-safe. */
final class BufferWalk {
    private final ByteBuffer[] slabs;
    private final Walk walk;
    private final int bytes;

    /** Of a memory that is one slab, or whose slabs are multiples of the size. */
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
