package io.modeldisk.aggregator.cuda;

import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A mark in a stream. Before the first {@link CudaStream#record}, the event counts as complete. Each new record replaces the
 * previous record. Thread-safe.
 */
public final class CudaEvent extends CudaResource {
    private final CUevent event;

    CudaEvent(CudaDevice device, CUevent event) {
        super(device, "cuEventDestroy", () -> JCudaDriver.cuEventDestroy(event));
        this.event = event;
    }

    CUevent handle() {
        return event;
    }

    /**
     * Returns true if the device has completed all work that precedes the newest record of this event.
     *
     * @throws CudaException if any work of the device failed, even in another stream
     */
    public boolean isComplete() {
        device().enter();
        int result = JCudaDriver.cuEventQuery(event);
        if (result == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        CudaException.check("cuEventQuery", result);
        return true;
    }
}
