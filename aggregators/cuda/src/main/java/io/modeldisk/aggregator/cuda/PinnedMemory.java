package io.modeldisk.aggregator.cuda;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;

/**
 * Host memory that a device reads and writes without a copy in between, or a part of it. The pages stay in physical memory.
 * Thread-safe; the user of the bytes synchronizes their accesses with the copies of {@link CudaStream}.
 *
 * @param pointer the address for calls of the driver
 * @param segment the bytes, which must not be used after {@link #free}
 * @param pinning what the driver has pinned, which slices share
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
        // A buffer has at most 2 GiB, so only its address is used.
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
     * Returns a part of this memory. Allocates objects, so parts for the data path are made at the start.
     *
     * @throws IndexOutOfBoundsException if the part exceeds this memory
     */
    public PinnedMemory slice(long offset, long partBytes) {
        Objects.checkFromIndexSize(offset, partBytes, segment.byteSize());
        return new PinnedMemory(pointer.withByteOffset(offset), segment.asSlice(offset, partBytes), pinning);
    }

    /**
     * Frees the whole memory of which this is a part, or ends its registration. No copy may be under way. A second call does
     * nothing.
     */
    public void free() {
        pinning.close();
    }
}
