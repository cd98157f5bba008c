package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The memory of one initiator that its target has mapped. A steering tag is the number of a slab, so that a tag and an offset
 * make an address in {@link #memory()}. For the receiving thread; the memory is for any thread.
 */
final class PeerMemory {
    /** The most slabs that an initiator may register at one time. */
    static final int MAX_TAGS = 256;

    private static final MemorySegment[] NONE = {};

    private final MappingLimits limits;
    private final Arena[] arenas = new Arena[MAX_TAGS];
    private MemorySegment[] slabs = NONE;
    private DataMemory memory = DataMemory.viewOf(NONE);
    private long mappedBytes;

    PeerMemory(MappingLimits limits) {
        this.limits = limits;
    }

    /**
     * Maps a slab.
     *
     * @param descriptor stays the caller's
     * @throws IOException if the memory is not safe to map, or exceeds a limit, with the reason
     */
    void register(int tag, int descriptor) throws IOException {
        if (tag < 0 || tag >= MAX_TAGS || arenas[tag] != null) {
            throw new ProtocolException("steering tag " + tag + " must be from 0 to " + (MAX_TAGS - 1)
                + " and not in use");
        }
        Arena arena = Arena.ofShared();
        MemorySegment slab;
        try {
            slab = SharedMemory.map(descriptor, DataMemory.SLAB_BYTES, arena);
            if (mappedBytes + slab.byteSize() > limits.connectionBytes()) {
                throw new IOException("the connection would have " + (mappedBytes + slab.byteSize())
                    + " bytes mapped, the limit is " + limits.connectionBytes());
            }
            if (!limits.take(slab.byteSize())) {
                throw new IOException("with its " + slab.byteSize() + " bytes the server would have more than "
                    + limits.totalBytes() + " mapped for all connections, which is the limit");
            }
        } catch (IOException e) {
            arena.close();
            throw new IOException("memory with steering tag " + tag + " is refused: " + e.getMessage(), e);
        }
        mappedBytes += slab.byteSize();
        arenas[tag] = arena;
        MemorySegment[] more = new MemorySegment[Math.max(slabs.length, tag + 1)];
        System.arraycopy(slabs, 0, more, 0, slabs.length);
        more[tag] = slab;
        show(more);
    }

    private void show(MemorySegment[] now) {
        // A task in progress keeps the view it began with.
        slabs = now;
        memory = DataMemory.viewOf(now);
    }

    /** Unmaps a slab. A task that still uses it fails; its initiator caused that. */
    void invalidate(int tag) throws ProtocolException {
        if (tag < 0 || tag >= slabs.length || arenas[tag] == null) {
            throw new ProtocolException("steering tag " + tag + " is not in use");
        }
        unmap(tag);
    }

    private void unmap(int tag) {
        long bytes = slabs[tag].byteSize();
        MemorySegment[] fewer = slabs.clone();
        fewer[tag] = null;
        show(fewer);
        arenas[tag].close();
        arenas[tag] = null;
        mappedBytes -= bytes;
        limits.give(bytes);
    }

    /** Whether a range lies within the slab of a tag. */
    boolean covers(int tag, long offset, long bytes) {
        return tag >= 0 && tag < slabs.length && slabs[tag] != null
            && offset >= 0 && offset <= slabs[tag].byteSize() - bytes;
    }

    /** All slabs, each at the offset of its tag. */
    DataMemory memory() {
        return memory;
    }

    /** The offset in {@link #memory()} of an offset of a tag. */
    static long address(int tag, long offset) {
        return (long) tag * DataMemory.SLAB_BYTES + offset;
    }

    /** Unmaps all slabs; no task uses them any more. */
    void close() {
        for (int tag = 0; tag < slabs.length; tag++) {
            if (arenas[tag] != null) {
                unmap(tag);
            }
        }
    }
}
