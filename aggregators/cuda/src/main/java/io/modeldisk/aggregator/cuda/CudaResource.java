package io.modeldisk.aggregator.cuda;

import java.util.function.IntSupplier;

/** An object of the driver that belongs to a device, such as a stream or an allocation. Thread-safe. */
class CudaResource implements AutoCloseable {
    private final CudaDevice device;
    private final String nameOfFree;
    private final IntSupplier free;
    private boolean closed;

    /** Creates an object. Closing the device also closes it. {@code free} calls the driver function named {@code nameOfFree}. */
    CudaResource(CudaDevice device, String nameOfFree, IntSupplier free) {
        this.device = device;
        this.nameOfFree = nameOfFree;
        this.free = free;
        device.remember(this);
    }

    final CudaDevice device() {
        return device;
    }

    /** Frees the object, after the device has completed its work with the object. A second call does nothing. */
    @Override
    public final void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        device.forget(this);
        // The object is freed even if tryEnter() fails, because the context might already be current in this thread.
        int entered = device.tryEnter();
        int freed = free.getAsInt();
        CudaException.check("cuCtxSetCurrent", entered);
        CudaException.check(nameOfFree, freed);
    }
}
