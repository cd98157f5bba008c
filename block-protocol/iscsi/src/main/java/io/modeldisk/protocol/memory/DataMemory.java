package io.modeldisk.protocol.memory;

import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.linux.SharedMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A range of zeroed, page-aligned memory outside the heap, addressed by a 64-bit offset. It consists of slabs of at most
 * {@value #SLAB_BYTES} bytes: a datamover registers a slab at a time, and one {@link ByteBuffer} can view one. Another process of
 * this host can map shareable memory.
 *
 * <p>Thread-safe: only the contents change, under the locks of their owners. After {@link #close()} any access fails.
 */
public final class DataMemory implements AutoCloseable {
    /** The size of every slab except the last: a multiple of every block size, so that no block lies in two slabs. */
    public static final int SLAB_BYTES = 1 << 30;

    private static final int SLAB_SHIFT = 30;
    private static final int PAGE_BYTES = 4096;

    private final Arena arena;
    private final MemorySegment[] slabs;
    private final int[] descriptors;
    private final long bytes;

    private DataMemory(Arena arena, MemorySegment[] slabs, int[] descriptors, long bytes) {
        this.arena = arena;
        this.slabs = slabs;
        this.descriptors = descriptors;
        this.bytes = bytes;
    }

    /**
     * Allocates memory.
     *
     * @param bytes more than 0
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws OutOfMemoryError if the machine has less
     */
    public static DataMemory allocate(long bytes) {
        Arena arena = Arena.ofShared();
        MemorySegment[] slabs = new MemorySegment[slabsFor(bytes)];
        try {
            for (int i = 0; i < slabs.length; i++) {
                slabs[i] = arena.allocate(slabBytes(i, bytes), PAGE_BYTES);
            }
        } catch (OutOfMemoryError e) {
            arena.close();
            throw e;
        }
        return new DataMemory(arena, slabs, new int[0], bytes);
    }

    /**
     * Allocates memory that another process of this host can map, given a slab's {@link #descriptor}.
     *
     * @param bytes more than 0
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws IOException if the memory limit of this process allows less, or this machine has no such memory, with the reason
     */
    public static DataMemory allocateShareable(long bytes) throws IOException {
        MemorySegment[] slabs = new MemorySegment[slabsFor(bytes)];
        int[] descriptors = new int[slabs.length];
        Arena arena = Arena.ofShared();
        try {
            SharedMemory.ensureAvailability();
            MemoryLimit limit = MemoryLimit.ofThisProcess();
            if (!limit.allows(bytes)) {
                throw new IOException(limit.describe());
            }
            for (int i = 0; i < slabs.length; i++) {
                SharedMemory.Slab slab = SharedMemory.create(slabBytes(i, bytes), arena);
                slabs[i] = slab.segment();
                descriptors[i] = slab.descriptor();
            }
        } catch (IOException e) {
            arena.close();
            throw new IOException("no shareable memory of " + bytes + " bytes: " + e.getMessage(), e);
        }
        return new DataMemory(arena, slabs, descriptors, bytes);
    }

    /**
     * A view of slabs that the caller owns and releases. Slab {@code i} holds the offsets from {@code i * SLAB_BYTES} on. An
     * element may be null or short; the offsets without memory must not be used.
     */
    public static DataMemory viewOf(MemorySegment... slabs) {
        return new DataMemory(null, slabs.clone(), new int[0], (long) slabs.length << SLAB_SHIFT);
    }

    private static int slabsFor(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be positive");
        }
        return Math.toIntExact((bytes + SLAB_BYTES - 1) >>> SLAB_SHIFT);
    }

    private static long slabBytes(int slab, long bytes) {
        return Math.min(SLAB_BYTES, bytes - ((long) slab << SLAB_SHIFT));
    }

    /** Whether another process can map it. */
    public boolean isShareable() {
        return descriptors.length > 0;
    }

    /** The file descriptor of a slab of shareable memory; it is closed with the memory. */
    public int descriptor(int slab) {
        return descriptors[slab];
    }

    /** Whether it has not been closed. */
    public boolean isOpen() {
        return arena == null || arena.scope().isAlive();
    }

    /** The size of the whole range. */
    public long bytes() {
        return bytes;
    }

    /** The number of slabs. */
    public int slabCount() {
        return slabs.length;
    }

    /** The slab that holds the byte at {@code offset}, at the offset {@link #offsetInSlab}. */
    public MemorySegment slab(long offset) {
        return slabs[slabIndex(offset)];
    }

    /** The index of the slab that holds the byte at {@code offset}. */
    public static int slabIndex(long offset) {
        return (int) (offset >>> SLAB_SHIFT);
    }

    /** The offset within its slab of the byte at {@code offset}. */
    public static int offsetInSlab(long offset) {
        return (int) (offset & (SLAB_BYTES - 1));
    }

    /** The number of bytes from {@code offset} to the end of its slab. */
    public int bytesLeftInSlab(long offset) {
        return (int) slab(offset).byteSize() - offsetInSlab(offset);
    }

    /** The address of the byte at {@code offset}, for a system call's vector. */
    public long address(long offset) {
        return slab(offset).address() + offsetInSlab(offset);
    }

    /** A view of a range within one slab. Makes an object: not for the data path. */
    public MemorySegment segment(long offset, long lengthBytes) {
        return slab(offset).asSlice(offsetInSlab(offset), lengthBytes);
    }

    /** New buffers for one thread, one over each slab. The thread sets position and limit, so that no object is made later. */
    public ByteBuffer[] newViews() {
        ByteBuffer[] views = new ByteBuffer[slabs.length];
        for (int i = 0; i < views.length; i++) {
            views[i] = slabs[i].asByteBuffer();
        }
        return views;
    }

    /** Releases the memory, unless it is a view. The owner ensures that nothing uses it any more. */
    @Override
    public void close() {
        if (arena != null) {
            arena.close();
        }
    }
}
