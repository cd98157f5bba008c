package io.modeldisk.aggregator.cuda;

import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * A queue of work for a device. The device runs the work of one stream in the order in which it was added. Work in different
 * streams runs in any order, unless {@link #waitFor} orders it. Each method adds work and returns at once, without allocating
 * memory. Thread-safe; work that several threads add at the same time gets an arbitrary order.
 */
public final class CudaStream extends CudaResource {
    private final CUstream stream;

    CudaStream(CudaDevice device, CUstream stream) {
        super(device, "cuStreamDestroy", () -> JCudaDriver.cuStreamDestroy(stream));
        this.stream = stream;
    }

    CUstream handle() {
        return stream;
    }

    /**
     * Copies the first {@code lengthBytes} bytes of {@code from} to the start of {@code to}. The device reads {@code from} later,
     * so these bytes must not change until an event that was recorded after the copy is complete.
     */
    public void copyToDevice(PinnedMemory from, DeviceMemory to, long lengthBytes) {
        checkLengths(from.segment().byteSize(), to.lengthBytes(), lengthBytes);
        device().enter();
        CudaException.check("cuMemcpyHtoDAsync",
            JCudaDriver.cuMemcpyHtoDAsync(to.pointer(), from.pointer(), lengthBytes, stream));
    }

    /** Copies the first {@code lengthBytes} bytes of {@code from} to the start of {@code to}. */
    public void copyToHost(DeviceMemory from, PinnedMemory to, long lengthBytes) {
        checkLengths(from.lengthBytes(), to.segment().byteSize(), lengthBytes);
        device().enter();
        CudaException.check("cuMemcpyDtoHAsync",
            JCudaDriver.cuMemcpyDtoHAsync(to.pointer(), from.pointer(), lengthBytes, stream));
    }

    /** Copies the first {@code lengthBytes} bytes of {@code from} to the start of {@code to}. The two ranges must not overlap. */
    public void copyOnDevice(DeviceMemory from, DeviceMemory to, long lengthBytes) {
        checkLengths(from.lengthBytes(), to.lengthBytes(), lengthBytes);
        device().enter();
        CudaException.check("cuMemcpyDtoDAsync",
            JCudaDriver.cuMemcpyDtoDAsync(to.pointer(), from.pointer(), lengthBytes, stream));
    }

    /** Sets all bytes of {@code memory} to 0. */
    public void clear(DeviceMemory memory) {
        device().enter();
        CudaException.check("cuMemsetD8Async",
            JCudaDriver.cuMemsetD8Async(memory.pointer(), (byte) 0, memory.lengthBytes(), stream));
    }

    /** Records {@code event} after all work that was added to this stream so far. */
    public void record(CudaEvent event) {
        device().enter();
        CudaException.check("cuEventRecord", JCudaDriver.cuEventRecord(event.handle(), stream));
    }

    /** Delays all later work of this stream until the newest record of {@code event} is complete. */
    public void waitFor(CudaEvent event) {
        device().enter();
        CudaException.check("cuStreamWaitEvent", JCudaDriver.cuStreamWaitEvent(stream, event.handle(), 0));
    }

    private static void checkLengths(long fromBytes, long toBytes, long lengthBytes) {
        if (lengthBytes < 0 || lengthBytes > fromBytes || lengthBytes > toBytes) {
            throw new IndexOutOfBoundsException(
                "lengthBytes=" + lengthBytes + " must be from 0 to the size of the smaller memory; the sizes are "
                    + fromBytes + " and " + toBytes);
        }
    }
}
