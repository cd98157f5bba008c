package io.modeldisk.aggregator.cuda;

import io.modeldisk.platform.units.ByteSize;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import jcuda.driver.CUcontext;
import jcuda.driver.CUctx_flags;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * An NVIDIA GPU with its own CUDA context. The device's objects (memory, streams, events and kernels) belong to this context, and
 * {@link #close} frees the objects that are still open. Thread-safe: any thread, including a virtual thread, may use the device
 * and its objects. No method may be called during or after {@link #close}.
 */
public final class CudaDevice implements AutoCloseable {
    private static final int LEAST_CAPABILITY = 7;
    private static final int NAME_BYTES = 256;

    private final String name;
    private final String computeCapability;
    private final long totalBytes;
    private final long budgetBytes;
    private final CUdevice handle;
    private final CUcontext context;
    private final Deque<CudaResource> open = new ArrayDeque<>();
    private long reservedBytes;
    private boolean closed;

    private CudaDevice(
        Found found, long totalBytes, long budgetBytes, CUcontext context) {
        this.name = found.name;
        this.computeCapability = found.computeCapability;
        this.handle = found.handle;
        this.totalBytes = totalBytes;
        this.budgetBytes = budgetBytes;
        this.context = context;
    }

    /**
     * Opens a device.
     *
     * @param ordinal the number of the device, from 0
     * @param budgetBytes the maximum size of all memory from {@link #allocate} together, above 0
     * @throws UnsupportedOperationException if no GPU can be used, or if this device is too old for the kernels
     * @throws IllegalArgumentException if there is no such device, or if the device has less free memory than the budget
     * @throws CudaException if a call to the driver failed; in this case, nothing stays open
     */
    public static CudaDevice open(int ordinal, long budgetBytes) {
        Found found = find(ordinal);
        CUdevice handle = found.handle;
        long[] total = new long[1];
        CudaException.check("cuDeviceTotalMem", JCudaDriver.cuDeviceTotalMem(total, handle));
        CUcontext context = new CUcontext();
        CudaException.check("cuCtxCreate",
            JCudaDriver.cuCtxCreate(context, CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC, handle));
        CudaDevice device = new CudaDevice(found, total[0], budgetBytes, context);
        try {
            long free = device.freeBytes();
            if (budgetBytes <= 0 || budgetBytes > free) {
                throw new IllegalArgumentException(
                    "a memory budget of " + ByteSize.exact(budgetBytes) + " is not possible, because the device "
                        + found.name + " has only " + ByteSize.exact(free) + " of free memory");
            }
            return device;
        } catch (RuntimeException e) {
            closeAfter(e, device);
            throw e;
        }
    }

    /** A device that is recent enough for the kernels. */
    private record Found(CUdevice handle, String name, String computeCapability) {}

    /**
     * Checks that a device can be used.
     *
     * @param ordinal the number of the device, from 0
     * @throws UnsupportedOperationException if no GPU can be used, or if this device is too old for the kernels
     * @throws IllegalArgumentException if there is no such device
     */
    public static void check(int ordinal) {
        find(ordinal);
    }

    private static Found find(int ordinal) {
        int count = Cuda.deviceCount();
        if (ordinal < 0 || ordinal >= count) {
            throw new IllegalArgumentException("there is no device cuda:" + ordinal + "; this machine has "
                + (count == 0 ? "no device" : count == 1 ? "only cuda:0" : "cuda:0 to cuda:" + (count - 1)));
        }
        CUdevice handle = new CUdevice();
        CudaException.check("cuDeviceGet", JCudaDriver.cuDeviceGet(handle, ordinal));
        String name = "cuda:" + ordinal + " (" + name(handle) + ")";
        int major = attribute(handle, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        int minor = attribute(handle, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        if (major < LEAST_CAPABILITY) {
            throw new UnsupportedOperationException(
                "the device " + name + " has the compute capability " + major + "." + minor
                    + "; at least " + LEAST_CAPABILITY + ".0 is needed");
        }
        return new Found(handle, name, major + "." + minor);
    }

    static String name(CUdevice handle) {
        byte[] bytes = new byte[NAME_BYTES];
        CudaException.check("cuDeviceGetName", JCudaDriver.cuDeviceGetName(bytes, bytes.length, handle));
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    static int attribute(CUdevice handle, int attribute) {
        int[] value = new int[1];
        CudaException.check("cuDeviceGetAttribute", JCudaDriver.cuDeviceGetAttribute(value, attribute, handle));
        return value[0];
    }

    /** Returns an attribute of this device, or 0 if the driver is too old for this attribute. */
    int attributeIfKnown(int attribute) {
        int[] value = new int[1];
        int result = JCudaDriver.cuDeviceGetAttribute(value, attribute, handle);
        if (result == CUresult.CUDA_ERROR_INVALID_VALUE) {
            return 0;
        }
        CudaException.check("cuDeviceGetAttribute", result);
        return value[0];
    }

    /** Closes an object after a failure. If the close fails too, adds its error to {@code failure} as a suppressed exception. */
    static void closeAfter(Throwable failure, AutoCloseable opened) {
        try {
            opened.close();
        } catch (Exception e) {
            failure.addSuppressed(e);
        }
    }

    /** Returns the compute capability, such as {@code 9.0}. */
    public String computeCapability() {
        return computeCapability;
    }

    /** Returns the size of the device's memory in bytes. */
    public long totalBytes() {
        return totalBytes;
    }

    /** Returns the number of bytes of the device's memory that no process uses. */
    public long freeBytes() {
        enter();
        long[] free = new long[1];
        CudaException.check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, new long[1]));
        return free[0];
    }

    /**
     * Allocates device memory.
     *
     * @param lengthBytes above 0
     * @throws IllegalArgumentException if the budget does not suffice
     * @throws CudaException if the device has too little memory
     */
    public DeviceMemory allocate(long lengthBytes) {
        reserve(lengthBytes);
        try {
            enter();
            return DeviceMemory.allocate(this, lengthBytes);
        } catch (RuntimeException e) {
            unreserve(lengthBytes);
            throw e;
        }
    }

    private synchronized void reserve(long lengthBytes) {
        if (lengthBytes <= 0 || lengthBytes > budgetBytes - reservedBytes) {
            throw new IllegalArgumentException(ByteSize.exact(lengthBytes) + " of memory of the device " + name
                + " cannot be allocated: " + ByteSize.exact(reservedBytes) + " of a budget of "
                + ByteSize.exact(budgetBytes) + " are in use");
        }
        reservedBytes += lengthBytes;
    }

    synchronized void unreserve(long lengthBytes) {
        reservedBytes -= lengthBytes;
    }

    /** Allocates pinned host memory. {@code lengthBytes} is above 0. */
    public PinnedMemory allocatePinned(long lengthBytes) {
        enter();
        return PinnedMemory.allocate(this, lengthBytes);
    }

    /** Pins {@code memory}, native memory of less than 2 GiB, which must stay allocated until {@link PinnedMemory#free}. */
    public PinnedMemory register(MemorySegment memory) {
        enter();
        return PinnedMemory.register(this, memory);
    }

    /** Creates a stream. */
    public CudaStream newStream() {
        enter();
        CUstream stream = new CUstream();
        CudaException.check("cuStreamCreate",
            JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
        return new CudaStream(this, stream);
    }

    /** Creates an event. */
    public CudaEvent newEvent() {
        enter();
        CUevent event = new CUevent();
        CudaException.check("cuEventCreate", JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING));
        return new CudaEvent(this, event);
    }

    /** Makes the context current in this thread. Every call needs this, because a virtual thread can change carrier threads. */
    void enter() {
        CudaException.check("cuCtxSetCurrent", tryEnter());
    }

    int tryEnter() {
        return JCudaDriver.cuCtxSetCurrent(context);
    }

    synchronized void remember(CudaResource resource) {
        open.addLast(resource);
    }

    synchronized void forget(CudaResource resource) {
        open.remove(resource);
    }

    /**
     * Waits until the device has completed all work, and then frees all objects of the device.
     *
     * @throws CudaException the first error, if calls to the driver failed; all objects are freed nevertheless
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        CudaException failure = null;
        try {
            enter();
            CudaException.check("cuCtxSynchronize", JCudaDriver.cuCtxSynchronize());
        } catch (CudaException e) {
            failure = e;
        }
        for (CudaResource resource = newest(); resource != null; resource = newest()) {
            try {
                resource.close();
            } catch (CudaException e) {
                failure = first(failure, e);
            }
        }
        int destroyed = JCudaDriver.cuCtxDestroy(context);
        if (destroyed != CUresult.CUDA_SUCCESS) {
            failure = first(failure, new CudaException("cuCtxDestroy", destroyed, ""));
        }
        if (failure != null) {
            throw failure;
        }
    }

    private synchronized CudaResource newest() {
        return open.pollLast();
    }

    static CudaException first(CudaException first, CudaException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    /** Returns the number and the name of the device, such as {@code cuda:0 (NVIDIA H100 PCIe)}. */
    @Override
    public String toString() {
        return name;
    }
}
