package io.modeldisk.aggregator.cuda;

import java.util.Objects;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;

/**
 * Memory of a device, or a part of it. Its bytes are undefined at first. The host cannot access the memory; {@link CudaStream}
 * copies it. Thread-safe.
 */
public final class DeviceMemory {
    private final CUdeviceptr pointer;
    private final long address;
    private final long lengthBytes;
    /** The allocation of the driver, which slices share. */
    private final CudaResource allocation;

    private DeviceMemory(CUdeviceptr pointer, long address, long lengthBytes, CudaResource allocation) {
        this.pointer = pointer;
        this.address = address;
        this.lengthBytes = lengthBytes;
        this.allocation = allocation;
    }

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

    /** Returns the address on the device. Memory that {@link CudaDevice#allocate} returns is aligned to 256 bytes. */
    public long address() {
        return address;
    }

    /** Returns the size in bytes. */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * Returns a part of this memory. Allocates an object, so parts for the data path are made at the start.
     *
     * @throws IndexOutOfBoundsException if the part exceeds this memory
     */
    public DeviceMemory slice(long offset, long partBytes) {
        Objects.checkFromIndexSize(offset, partBytes, lengthBytes);
        return new DeviceMemory(pointer.withByteOffset(offset), address + offset, partBytes, allocation);
    }

    CUdeviceptr pointer() {
        return pointer;
    }

    /** Frees the whole memory of which this is a part, after all work of the device. A second call does nothing. */
    public void free() {
        allocation.close();
    }
}
