package io.modeldisk.aggregator.cuda;

import java.util.function.IntSupplier;

/** An object of the driver that belongs to a device. Thread-safe. */
class CudaResource implements AutoCloseable {
    private final CudaDevice device;
    private final String nameOfFree;
    private final IntSupplier free;
    private boolean closed;

    /**
     * Creates an object that the device closes unless it is closed before.
     *
     * @param nameOfFree the name of the driver's function that frees the object
     * @param free calls this function, and returns the result of the driver
     */
    CudaResource(CudaDevice device, String nameOfFree, IntSupplier free) {
        this.device = device;
        this.nameOfFree = nameOfFree;
        this.free = free;
        device.remember(this);
    }

    final CudaDevice device() {
        return device;
    }

    /** Frees the object. Work that the device still does with the object ends first. A second call does nothing. */
    @Override
    public final void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        device.forget(this);
        // The object is freed even if the first call fails, because the context may be current already.
        int entered = device.tryEnter();
        int freed = free.getAsInt();
        CudaException.check("cuCtxSetCurrent", entered);
        CudaException.check(nameOfFree, freed);
    }
}
