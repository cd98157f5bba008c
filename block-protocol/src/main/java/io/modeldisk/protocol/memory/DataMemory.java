package io.modeldisk.protocol.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A range of zeroed, page-aligned memory outside the heap, addressed by a 64-bit offset and made of slabs of at most
 * {@value #SLAB_BYTES} bytes: a slab is what a datamover registers and what one {@link ByteBuffer} can show.
 *
 * <p>Thread-safe: immutable but for its contents, whose owners keep their own locks. After {@link #close()} any access fails.
 */
public final class DataMemory implements AutoCloseable {
    /** Every slab but the last has this size, a multiple of every block size, so that no block straddles two. */
    public static final int SLAB_BYTES = 1 << 30;

    private static final int SLAB_SHIFT = 30;
    private static final int PAGE_BYTES = 4096;

    private final Arena arena;
    private final MemorySegment[] slabs;
    private final long bytes;

    private DataMemory(long bytes) {
        this.bytes = bytes;
        this.arena = Arena.ofShared();
        this.slabs = new MemorySegment[Math.toIntExact((bytes + SLAB_BYTES - 1) >>> SLAB_SHIFT)];
        for (int i = 0; i < slabs.length; i++) {
            slabs[i] = arena.allocate(Math.min(SLAB_BYTES, bytes - ((long) i << SLAB_SHIFT)), PAGE_BYTES);
        }
    }

    /**
     * Allocates memory.
     *
     * @param bytes more than 0
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws OutOfMemoryError if the machine has not so much
     */
    public static DataMemory allocate(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be positive");
        }
        return new DataMemory(bytes);
    }

    /** The size of the whole range. */
    public long bytes() {
        return bytes;
    }

    /** How many slabs there are. */
    public int slabCount() {
        return slabs.length;
    }

    /** The slab that holds the byte at {@code offset}; its own offsets start at {@link #offsetInSlab} 0. */
    public MemorySegment slab(long offset) {
        return slabs[slabIndex(offset)];
    }

    /** The index of the slab that holds the byte at {@code offset}. */
    public static int slabIndex(long offset) {
        return (int) (offset >>> SLAB_SHIFT);
    }

    /** Where the byte at {@code offset} is within its slab. */
    public static int offsetInSlab(long offset) {
        return (int) (offset & (SLAB_BYTES - 1));
    }

    /** How many bytes lie between {@code offset} and the end of its slab. */
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

    /** New buffers, one over each slab, for a single thread's use: set position and limit, and no object is made later. */
    public ByteBuffer[] newViews() {
        ByteBuffer[] views = new ByteBuffer[slabs.length];
        for (int i = 0; i < views.length; i++) {
            views[i] = slabs[i].asByteBuffer();
        }
        return views;
    }

    /** Gives the memory back. The owner makes sure that nobody uses it any more. */
    @Override
    public void close() {
        arena.close();
    }
}
