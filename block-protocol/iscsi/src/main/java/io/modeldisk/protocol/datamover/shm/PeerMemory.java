package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The memory of one initiator that the target has mapped. A steering tag is the number of a slab, so a tag and an offset
 * determine a byte of {@link #memory()}. Only the receiving thread may use this object. Any thread may use the result of
 * {@link #memory()}.
 */
final class PeerMemory {
    /** The maximum number of slabs that an initiator may register at one time. */
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
     * Maps a slab under a steering tag.
     *
     * @param descriptor the file descriptor of the memory with the slab, which the caller must close
     * @param offset the start of the slab in that memory
     * @throws IOException if the memory is not safe to map or exceeds a limit. The message contains the reason
     */
    void register(int tag, int descriptor, long offset) throws IOException {
        if (tag < 0 || tag >= MAX_TAGS) {
            throw new ProtocolException("the initiator registered steering tag " + tag + ", which must be from 0 to "
                + (MAX_TAGS - 1));
        }
        if (arenas[tag] != null) {
            throw new ProtocolException("the initiator registered steering tag " + tag + ", which is in use");
        }
        Arena arena = Arena.ofShared();
        MemorySegment slab;
        try {
            slab = SharedMemory.map(descriptor, offset, DataMemory.SLAB_BYTES, arena);
            if (mappedBytes + slab.byteSize() > limits.connectionBytes()) {
                throw new IOException("the connection would map " + (mappedBytes + slab.byteSize())
                    + " bytes, but the limit is " + limits.connectionBytes() + " bytes");
            }
            if (!limits.take(slab.byteSize())) {
                throw new IOException(
                    "with these " + slab.byteSize() + " bytes, all connections together would map more than "
                        + limits.totalBytes() + " bytes, which is the limit");
            }
        } catch (IOException e) {
            arena.close();
            throw new IOException("the server cannot map the memory with steering tag " + tag + ": " + e.getMessage(),
                e);
        }
        mappedBytes += slab.byteSize();
        arenas[tag] = arena;
        MemorySegment[] more = new MemorySegment[Math.max(slabs.length, tag + 1)];
        System.arraycopy(slabs, 0, more, 0, slabs.length);
        more[tag] = slab;
        show(more);
    }

    private void show(MemorySegment[] now) {
        // Tasks in progress continue to use the DataMemory that memory() returned when they started.
        slabs = now;
        memory = DataMemory.viewOf(now);
    }

    /** Unmaps a slab. Tasks that still use the slab fail. The initiator must therefore not unregister memory that is in use. */
    void invalidate(int tag) throws ProtocolException {
        if (tag < 0 || tag >= slabs.length || arenas[tag] == null) {
            throw new ProtocolException("the initiator invalidated steering tag " + tag + ", which is not in use");
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

    /** True if a range lies within the slab of a tag. */
    boolean covers(int tag, long offset, long bytes) {
        return tag >= 0 && tag < slabs.length && slabs[tag] != null
            && offset >= 0 && offset <= slabs[tag].byteSize() - bytes;
    }

    /** A view of all mapped slabs. The slab with tag {@code t} begins at offset {@code t * SLAB_BYTES}. */
    DataMemory memory() {
        return memory;
    }

    /** Returns the offset in {@link #memory()} of the byte at {@code offset} in the slab of a tag. */
    static long address(int tag, long offset) {
        return (long) tag * DataMemory.SLAB_BYTES + offset;
    }

    /** Unmaps all slabs. May be called only when no task uses the slabs. */
    void close() {
        for (int tag = 0; tag < slabs.length; tag++) {
            if (arenas[tag] != null) {
                unmap(tag);
            }
        }
    }
}
