package io.modeldisk.aggregator.cuda;

import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A mark in a stream. Before the first {@link CudaStream#record}, the event counts as complete. Each record replaces the one
 * before it. Thread-safe.
 */
public final class CudaEvent extends CudaResource {
    private static final long SHORTEST_PAUSE_NS = 20_000;
    private static final long LONGEST_PAUSE_NS = 1_000_000;

    private final CUevent event;

    CudaEvent(CudaDevice device, CUevent event) {
        super(device, "cuEventDestroy", () -> JCudaDriver.cuEventDestroy(event));
        this.event = event;
    }

    CUevent handle() {
        return event;
    }

    /**
     * Returns whether the device has done all work before the newest record of this event.
     *
     * @throws CudaException if this or other work of the device has failed
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

    /**
     * Waits until this event is complete. The thread sleeps between two looks, for 20 µs at first and 1 ms at most.
     *
     * @return false after the time-out
     * @throws CudaException if this or other work of the device has failed
     */
    public boolean await(long timeoutMs) throws InterruptedException {
        NanoClock clock = device().clock();
        long start = clock.nanoTime();
        long timeoutNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        long pause = SHORTEST_PAUSE_NS;
        while (!isComplete()) {
            long rest = timeoutNs - (clock.nanoTime() - start);
            if (rest <= 0) {
                return false;
            }
            clock.sleep(Math.min(rest, pause), TimeUnit.NANOSECONDS);
            pause = Math.min(2 * pause, LONGEST_PAUSE_NS);
        }
        return true;
    }
}
