package io.modeldisk.aggregator.cuda;

import java.util.Objects;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;

/**
 * An allocation of device memory, or a slice of an allocation. The bytes are undefined at first. The host cannot access the
 * memory, but {@link CudaStream} can copy it. Thread-safe.
 *
 * @param pointer the address in the form that calls to the driver need
 * @param address the address on the device. Memory that {@link CudaDevice#allocate} returns is aligned to 256 bytes
 * @param lengthBytes the size
 * @param allocation the allocation of the driver, which all slices share
 */
public record DeviceMemory(CUdeviceptr pointer, long address, long lengthBytes, CudaResource allocation) {
    /** A pointer whose address can be read. */
    private static final class Base extends CUdeviceptr {
        long address() {
            return getNativePointer();
        }
    }

    static DeviceMemory allocate(CudaDevice device, long lengthBytes) {
        Base base = new Base();
        int result = JCudaDriver.cuMemAlloc(base, lengthBytes);
        if (result != 0) {
            throw new CudaException("cuMemAlloc", result, " of " + lengthBytes + " bytes on " + device);
        }
        CudaResource allocation = new CudaResource(device, "cuMemFree", () -> {
            device.unreserve(lengthBytes);
            return JCudaDriver.cuMemFree(base);
        });
        return new DeviceMemory(base, base.address(), lengthBytes, allocation);
    }

    /**
     * Returns a slice of this memory. This method allocates an object, so slices for the data path are created at the start.
     *
     * @throws IndexOutOfBoundsException if the slice exceeds this memory
     */
    public DeviceMemory slice(long offset, long partBytes) {
        Objects.checkFromIndexSize(offset, partBytes, lengthBytes);
        return new DeviceMemory(pointer.withByteOffset(offset), address + offset, partBytes, allocation);
    }

    /** Frees the whole allocation of this memory after the device has completed all work. A second call does nothing. */
    public void free() {
        allocation.close();
    }
}
