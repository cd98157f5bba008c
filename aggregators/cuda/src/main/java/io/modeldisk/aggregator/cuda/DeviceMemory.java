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
    private final Allocation allocation;

    private DeviceMemory(CUdeviceptr pointer, long address, long lengthBytes, Allocation allocation) {
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

    /** Memory that one call of the driver has allocated. Its slices share it. */
    private static final class Allocation extends CudaResource {
        private final Base base = new Base();
        private final long lengthBytes;

        Allocation(CudaDevice device, long lengthBytes) {
            super(device);
            this.lengthBytes = lengthBytes;
        }

        @Override
        int free() {
            device().unreserve(lengthBytes);
            return JCudaDriver.cuMemFree(base);
        }

        @Override
        String nameOfFree() {
            return "cuMemFree";
        }
    }

    static DeviceMemory allocate(CudaDevice device, long lengthBytes) {
        Allocation allocation = new Allocation(device, lengthBytes);
        int result = JCudaDriver.cuMemAlloc(allocation.base, lengthBytes);
        if (result != 0) {
            throw new CudaException("cuMemAlloc", result, " of " + lengthBytes + " bytes on " + device);
        }
        device.remember(allocation);
        return new DeviceMemory(allocation.base, allocation.base.address(), lengthBytes, allocation);
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
