package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.device.PushMemory;
import io.modeldisk.platform.linux.Descriptors;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import jcuda.Pointer;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUpointer_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * GPU memory into which an RDMA device puts gradients (GPUDirect RDMA). If possible, the driver exports this memory as a dma-buf.
 * Otherwise, the RDMA device might still reach the memory by its address, with the kernel module nvidia_peermem.
 */
final class ArrivalMemory implements AutoCloseable {
    /** The size of the pages in which a GPU shares its memory with other devices. */
    private static final int PAGE_BYTES = 64 << 10;
    /** With this ordering, kernels see writes of other devices without a flush (CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER). */
    private static final int ORDERED_FOR_OWNER = 100;
    /** With this option, the host can flush the writes of other devices (CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST). */
    private static final int FLUSH_BY_HOST = 1;

    /** The errors of the driver after which the shard can still use the GPU, but without this memory. */
    private static final Set<Integer> REFUSALS = Set.of(CUresult.CUDA_ERROR_NOT_SUPPORTED,
        CUresult.CUDA_ERROR_INVALID_VALUE, CUresult.CUDA_ERROR_OUT_OF_MEMORY);

    private final CudaDevice device;
    private final DeviceMemory allocated;
    private final DeviceMemory memory;
    private final PushMemory pushMemory;
    private final boolean needsFlush;
    private boolean closed;

    private ArrivalMemory(CudaDevice device, DeviceMemory allocated, long bytes, boolean needsFlush) {
        this.device = device;
        this.allocated = allocated;
        this.memory = allocated.slice(-allocated.address() & PAGE_BYTES - 1, bytes);
        this.needsFlush = needsFlush;
        int[] sync = {1};
        CudaException.check("cuPointerSetAttribute", JCudaDriver.cuPointerSetAttribute(Pointer.to(sync),
            CUpointer_attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory.pointer()));
        int dmaBuf = GpuDirect.exportDmaBuf(memory.address(), bytes);
        this.pushMemory = new PushMemory(inaccessible(memory.address(), bytes), Math.max(dmaBuf, -1),
            dmaBuf >= 0 ? null : GpuDirect.reason(dmaBuf));
    }

    /**
     * Allocates memory on a GPU.
     *
     * @param bytes a multiple of 64 KiB
     * @throws IllegalArgumentException if RDMA devices cannot access the GPU's memory, or if kernels might miss RDMA writes
     */
    static ArrivalMemory allocate(CudaDevice device, long bytes) {
        boolean byAddress = device
            .attributeIfKnown(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED) != 0;
        boolean byDmaBuf = device.attributeIfKnown(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) != 0;
        if (!byAddress && !byDmaBuf) {
            throw new IllegalArgumentException("RDMA devices cannot access the memory of the device " + device);
        }
        boolean needsFlush = device.attributeIfKnown(
            CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING) < ORDERED_FOR_OWNER;
        int options = device
            .attributeIfKnown(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
        if (needsFlush && ((options & FLUSH_BY_HOST) == 0 || !GpuDirect.canFlush())) {
            throw new IllegalArgumentException("kernels of the device " + device
                + " might miss the data that an RDMA device writes, and the driver cannot prevent this");
        }
        try {
            return new ArrivalMemory(device, device.allocate(deviceBytes(bytes)), bytes, needsFlush);
        } catch (CudaException e) {
            throw REFUSALS.contains(e.error()) ? new IllegalArgumentException(e.getMessage(), e) : e;
        }
    }

    /** Returns the size of an allocation that has room for {@code bytes} bytes from the start of a GPU page on. */
    static long deviceBytes(long bytes) {
        return bytes == 0 ? 0 : bytes + PAGE_BYTES;
    }

    /** Returns a segment that throws an exception at every access. A host access to GPU memory would kill the process. */
    @SuppressWarnings("restricted")
    private static MemorySegment inaccessible(long address, long bytes) {
        try (Arena closed = Arena.ofShared()) {
            return MemorySegment.ofAddress(address).reinterpret(bytes, closed, null);
        }
    }

    DeviceMemory memory() {
        return memory;
    }

    PushMemory pushMemory() {
        return pushMemory;
    }

    /** Makes the data that RDMA devices have written so far visible to kernels that are launched later. */
    void flush() {
        if (needsFlush) {
            device.enter();
            CudaException.check("cuFlushGPUDirectRDMAWrites", GpuDirect.flush());
        }
    }

    /** Closes the dma-buf. A second call does nothing. */
    @Override
    public synchronized void close() {
        if (!closed && pushMemory.dmaBuf() >= 0) {
            Descriptors.close(pushMemory.dmaBuf());
        }
        closed = true;
    }

    /** Closes the dma-buf and frees the memory. */
    void free() {
        close();
        allocated.free();
    }
}
