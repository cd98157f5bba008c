package io.modeldisk.aggregator.cuda;

/** An object of the driver that belongs to a device. Thread-safe. */
abstract class CudaResource implements AutoCloseable {
    private final CudaDevice device;
    private boolean closed;

    CudaResource(CudaDevice device) {
        this.device = device;
    }

    final CudaDevice device() {
        return device;
    }

    /** Frees the object. Returns the result of the driver. */
    abstract int free();

    /** Returns the name of the function that {@link #free} calls. */
    abstract String nameOfFree();

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
        int freed = free();
        CudaException.check("cuCtxSetCurrent", entered);
        CudaException.check(nameOfFree(), freed);
    }
}
