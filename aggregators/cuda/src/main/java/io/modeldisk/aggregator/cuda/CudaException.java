package io.modeldisk.aggregator.cuda;

import jcuda.driver.CUresult;

/** A failed call to the CUDA driver. After most errors except a lack of memory, the process cannot use the device again. */
public final class CudaException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int error;

    CudaException(String call, int error, String circumstances) {
        this(call, error, circumstances, "");
    }

    /** Creates an exception. {@code log} is the driver's explanation of the failure in one line, or empty if there is none. */
    CudaException(String call, int error, String circumstances, String log) {
        super(call + circumstances + " failed: " + CUresult.stringFor(error) + " (" + error + ")"
            + (log.isEmpty() ? "" : ": " + log));
        this.error = error;
    }

    /** Returns the error number of the driver, which is a constant of {@code CUresult}. */
    public int error() {
        return error;
    }

    /** Throws an exception if {@code result}, the result of {@code call}, is an error. */
    static void check(String call, int result) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new CudaException(call, result, "");
        }
    }
}
