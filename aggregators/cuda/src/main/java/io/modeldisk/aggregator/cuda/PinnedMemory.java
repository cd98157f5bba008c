package io.modeldisk.aggregator.cuda;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;

/**
 * Host memory that a device reads and writes directly, or a slice of such memory. Its pages are locked in physical memory.
 * Thread-safe, but the caller must synchronize accesses to the bytes with the copies of {@link CudaStream}.
 *
 * @param pointer the address in the form that calls to the driver need
 * @param segment the bytes, which must not be used after {@link #free}
 * @param pinning the allocation or registration of the driver, which all slices share
 */
public record PinnedMemory(Pointer pointer, MemorySegment segment, CudaResource pinning) {
    @SuppressWarnings("restricted")
    static PinnedMemory allocate(CudaDevice device, long lengthBytes) {
        Pointer pointer = new Pointer();
        int result = JCudaDriver.cuMemHostAlloc(pointer, lengthBytes, 0);
        if (result != 0) {
            throw new CudaException("cuMemHostAlloc", result, " of " + lengthBytes + " bytes");
        }
        CudaResource pinning = new CudaResource(device, "cuMemFreeHost", () -> JCudaDriver.cuMemFreeHost(pointer));
        // A ByteBuffer can have at most 2 GiB, so only the address of the buffer is used.
        MemorySegment start = MemorySegment.ofBuffer(pointer.getByteBuffer(0, 1));
        return new PinnedMemory(pointer, start.reinterpret(lengthBytes), pinning);
    }

    static PinnedMemory register(CudaDevice device, MemorySegment memory) {
        Pointer pointer = Pointer.to(memory.asByteBuffer());
        int result = JCudaDriver.cuMemHostRegister(pointer, memory.byteSize(), 0);
        if (result != 0) {
            throw new CudaException("cuMemHostRegister", result, " of " + memory.byteSize() + " bytes");
        }
        CudaResource pinning = new CudaResource(device, "cuMemHostUnregister",
            () -> JCudaDriver.cuMemHostUnregister(pointer));
        return new PinnedMemory(pointer, memory, pinning);
    }

    /**
     * Returns a slice of this memory. This method allocates objects, so slices for the data path are created at the start.
     *
     * @throws IndexOutOfBoundsException if the slice exceeds this memory
     */
    public PinnedMemory slice(long offset, long partBytes) {
        Objects.checkFromIndexSize(offset, partBytes, segment.byteSize());
        return new PinnedMemory(pointer.withByteOffset(offset), segment.asSlice(offset, partBytes), pinning);
    }

    /** Frees the whole allocation, or ends its registration. No copy may be in progress. A second call does nothing. */
    public void free() {
        pinning.close();
    }
}
