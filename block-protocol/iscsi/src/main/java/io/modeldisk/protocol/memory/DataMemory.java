package io.modeldisk.protocol.memory;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.linux.PrivateMemory;
import io.modeldisk.platform.linux.SharedMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Zeroed, page-aligned memory outside the heap, addressed by a 64-bit offset. The memory consists of slabs of at most
 * {@value #SLAB_BYTES} bytes. A datamover registers one slab at a time, and one {@link ByteBuffer} can cover one slab. Another
 * process on this host can map shareable memory.
 *
 * <p>Thread-safe, but threads that use the same contents must synchronize their accesses. After {@link #close()}, every access
 * fails.
 */
public final class DataMemory implements AutoCloseable {
    /**
     * The size in bytes of every slab except the last. The size is a multiple of every block size, so no block lies in two
     * slabs.
     */
    public static final int SLAB_BYTES = 1 << 30;

    private static final int SLAB_SHIFT = 30;
    /** The descriptor of memory that is not shareable. */
    private static final int PRIVATE = -1;

    private final Arena arena;
    private final MemorySegment[] slabs;
    private final int descriptor;
    private final long bytes;
    /** The way in which an RDMA device accesses this memory, if it is memory of another device; null for host memory. */
    private final OnDevice device;

    /**
     * The way in which an RDMA device accesses memory of another device, such as a GPU.
     *
     * @param dmaBuf the file descriptor of a dma-buf that contains the memory; -1 if there is none
     * @param noDmaBuf the reason why there is no dma-buf; null if there is one
     */
    public record OnDevice(int dmaBuf, String noDmaBuf) {}

    private DataMemory(Arena arena, MemorySegment[] slabs, int descriptor, long bytes, OnDevice device) {
        this.arena = arena;
        this.slabs = slabs;
        this.descriptor = descriptor;
        this.bytes = bytes;
        this.device = device;
    }

    /**
     * Allocates memory that only this process can use.
     *
     * @param bytes the size, more than 0
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws OutOfMemoryError if the machine does not have enough free memory
     */
    public static DataMemory allocate(long bytes) {
        MemorySegment[] slabs = new MemorySegment[slabsFor(bytes)];
        Arena arena = Arena.ofShared();
        try {
            cut(PrivateMemory.allocate(bytes, arena), bytes, slabs);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw e;
        }
        return new DataMemory(arena, slabs, PRIVATE, bytes, null);
    }

    /**
     * Allocates memory that another process on this host can map. That process needs the {@link #descriptor}.
     *
     * @param bytes the size of the file that the descriptor refers to, more than 0. The memory ends with the last page of the
     *     file
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws IOException if the memory limit of this process is too low, or this machine does not support shareable memory. The
     *     message contains the reason
     */
    public static DataMemory allocateShareable(long bytes) throws IOException {
        MemorySegment[] slabs = new MemorySegment[slabsFor(bytes)];
        Arena arena = Arena.ofShared();
        try {
            SharedMemory.ensureAvailability();
            MemoryLimit limit = MemoryLimit.ofThisProcess();
            if (!limit.allows(bytes)) {
                throw new IOException(limit.describe());
            }
            SharedMemory.Mapping mapping = SharedMemory.create(bytes, arena);
            long mapped = mapping.segment().byteSize();
            cut(mapping.segment(), mapped, slabs);
            return new DataMemory(arena, slabs, mapping.descriptor(), mapped, null);
        } catch (IOException e) {
            arena.close();
            throw new IOException("cannot allocate " + bytes + " bytes of shareable memory: " + e.getMessage(), e);
        }
    }

    /**
     * Takes over shareable memory of another process, with its contents. {@link #close()} closes the descriptor.
     *
     * @param descriptor the {@link #descriptor} of the memory, as this process has received it
     * @throws IOException if the descriptor does not refer to such memory; the descriptor then stays open
     */
    public static DataMemory adopt(int descriptor) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            SharedMemory.Mapping mapping = SharedMemory.adopt(descriptor, arena);
            long mapped = mapping.segment().byteSize();
            MemorySegment[] slabs = new MemorySegment[slabsFor(mapped)];
            cut(mapping.segment(), mapped, slabs);
            return new DataMemory(arena, slabs, descriptor, mapped, null);
        } catch (IOException e) {
            arena.close();
            throw e;
        }
    }

    /**
     * Creates a view of slabs that the caller owns and releases. Slab {@code i} begins at offset {@code i * SLAB_BYTES}. A slab
     * can be null or shorter than {@link #SLAB_BYTES}. Offsets without memory must not be used.
     */
    public static DataMemory viewOf(MemorySegment... slabs) {
        return new DataMemory(null, slabs.clone(), PRIVATE, (long) slabs.length << SLAB_SHIFT, null);
    }

    /**
     * Creates a view of memory of a device, which the caller owns and releases. Only the addresses are used, because the host
     * cannot access the bytes.
     *
     * @param slab the addresses, at most {@value #SLAB_BYTES} bytes
     */
    public static DataMemory onDevice(MemorySegment slab, OnDevice device) {
        return new DataMemory(null, new MemorySegment[]{slab}, PRIVATE, slab.byteSize(), device);
    }

    private static int slabsFor(long bytes) {
        Arguments.require(bytes > 0, "bytes=" + bytes + " must be positive");
        return Math.toIntExact((bytes + SLAB_BYTES - 1) >>> SLAB_SHIFT);
    }

    private static void cut(MemorySegment memory, long bytes, MemorySegment[] slabs) {
        for (int i = 0; i < slabs.length; i++) {
            slabs[i] = memory.asSlice((long) i << SLAB_SHIFT, slabBytes(i, bytes));
        }
    }

    private static long slabBytes(int slab, long bytes) {
        return Math.min(SLAB_BYTES, bytes - ((long) slab << SLAB_SHIFT));
    }

    /** Returns how an RDMA device accesses this memory; null for host memory. */
    public OnDevice device() {
        return device;
    }

    /** True if another process can map this memory. */
    public boolean isShareable() {
        return descriptor != PRIVATE;
    }

    /** The file descriptor of shareable memory, a sealed memfd. {@link #close()} closes the descriptor. */
    public int descriptor() {
        return descriptor;
    }

    /** True if the memory is still open. */
    public boolean isOpen() {
        return arena == null || arena.scope().isAlive();
    }

    /** The size of the memory in bytes. */
    public long bytes() {
        return bytes;
    }

    /** The slabs, in the order of their offsets. */
    public List<MemorySegment> slabs() {
        return List.of(slabs);
    }

    /** The number of slabs. */
    public int slabCount() {
        return slabs.length;
    }

    /**
     * Returns the slab that holds the byte at {@code offset}. {@link #offsetInSlab} returns the position of the byte in the
     * slab.
     */
    public MemorySegment slab(long offset) {
        return slabs[slabIndex(offset)];
    }

    /** Returns the index of the slab that holds the byte at {@code offset}. */
    public static int slabIndex(long offset) {
        return (int) (offset >>> SLAB_SHIFT);
    }

    /** Returns the position, within a slab, of the byte at {@code offset}. */
    public static int offsetInSlab(long offset) {
        return (int) (offset & (SLAB_BYTES - 1));
    }

    /** Returns the number of bytes from {@code offset} to the end of the slab that holds this offset. */
    public int bytesLeftInSlab(long offset) {
        return (int) slab(offset).byteSize() - offsetInSlab(offset);
    }

    /** Returns the native address of the byte at {@code offset}, for system calls. */
    public long address(long offset) {
        return slab(offset).address() + offsetInSlab(offset);
    }

    /** Returns a view of a range within one slab. Must not be used on the data path, because the method allocates an object. */
    public MemorySegment segment(long offset, long lengthBytes) {
        return slab(offset).asSlice(offsetInSlab(offset), lengthBytes);
    }

    /**
     * Creates one buffer over each slab, for one thread. The thread sets position and limit for each access, so later accesses
     * create no objects.
     */
    public ByteBuffer[] newViews() {
        ByteBuffer[] views = new ByteBuffer[slabs.length];
        for (int i = 0; i < views.length; i++) {
            views[i] = slabs[i].asByteBuffer();
        }
        return views;
    }

    /** Releases the memory, unless this object is a view. The caller must ensure that no thread uses the memory any more. */
    @Override
    public void close() {
        if (arena != null) {
            arena.close();
        }
    }
}
