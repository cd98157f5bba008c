package io.modeldisk.aggregator.cuda;

import jcuda.driver.CUresult;

/** A call of the CUDA driver has failed. After most errors other than a lack of memory, the device cannot be used any more. */
public final class CudaException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int error;

    CudaException(String call, int error, String circumstances) {
        this(call, error, circumstances, "");
    }

    /** Creates an exception. {@code log}: what the driver says about the failure, in one line; empty if it says nothing. */
    CudaException(String call, int error, String circumstances, String log) {
        super(call + circumstances + " has failed: " + CUresult.stringFor(error) + " (" + error + ")"
            + (log.isEmpty() ? "" : ": " + log));
        this.error = error;
    }

    /** Returns the error of the driver, a {@code CUresult}. */
    public int error() {
        return error;
    }

    /** Throws an exception if {@code result} is an error. */
    static void check(String call, int result) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new CudaException(call, result, "");
        }
    }
}
