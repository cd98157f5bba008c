package io.modeldisk.aggregator.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * Checks whether this process can use an NVIDIA GPU. The check loads the native libraries. It runs once, at the first call.
 * {@code -Dmodeldisk.cuda=off} turns the GPU off. Thread-safe.
 *
 * <p>JCuda loads its native library from {@code java.library.path}. If the library is missing there, JCuda copies it from its jar
 * to a file with a fixed name in {@code java.io.tmpdir}. If this file already exists, JCuda loads it without a check. A server
 * should therefore have the library in {@code java.library.path}, or its own temporary folder.
 */
public final class Cuda {
    /** The first CUDA version that supports the PTX of the kernels, in the format that the driver reports. */
    private static final int LEAST_VERSION = 11000;

    private Cuda() {}

    /** The result of the check, which runs once, when the JVM initialises this class. */
    private static final class Attempt {
        private static final String FAILURE = System.getProperty("modeldisk.cuda", "on").equals("off")
            ? "CUDA is turned off by -Dmodeldisk.cuda=off"
            : failure("libcuda.so.1");
    }

    /** Returns whether this process can use a GPU. */
    public static boolean isAvailable() {
        return Attempt.FAILURE == null;
    }

    /** Returns the reason why no GPU can be used, as one line; null if a GPU can be used. */
    public static String unavailabilityCause() {
        return Attempt.FAILURE;
    }

    /**
     * Checks that this process can use a GPU.
     *
     * @throws UnsupportedOperationException if no GPU can be used; the message contains the reason
     */
    public static void ensureAvailability() {
        if (!isAvailable()) {
            throw new UnsupportedOperationException("CUDA is not available: " + unavailabilityCause());
        }
    }

    /**
     * Returns the number of devices.
     *
     * @throws UnsupportedOperationException if no GPU can be used
     */
    public static int deviceCount() {
        ensureAvailability();
        int[] count = new int[1];
        CudaException.check("cuDeviceGetCount", JCudaDriver.cuDeviceGetCount(count));
        return count[0];
    }

    /**
     * Returns the newest version of CUDA that the driver supports, such as {@code 12.6}.
     *
     * @throws UnsupportedOperationException if no GPU can be used
     */
    public static String supportedVersion() {
        ensureAvailability();
        int[] version = new int[1];
        CudaException.check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(version));
        return version(version[0]);
    }

    /** Tries to use the driver. Returns null, or the reason why the driver cannot be used. */
    @SuppressWarnings("restricted")
    static String failure(String driverLibrary) {
        try {
            SymbolLookup.libraryLookup(driverLibrary, Arena.global());
        } catch (IllegalArgumentException e) {
            return "NVIDIA's driver is missing: the library " + driverLibrary
                + " cannot be loaded; install the driver, or name the folder of the library in LD_LIBRARY_PATH";
        }
        try {
            return failureOfDriver();
        } catch (LinkageError e) {
            return "the native library of JCuda cannot be loaded: " + e.toString().lines().findFirst().orElseThrow();
        }
    }

    private static String failureOfDriver() {
        int result = JCudaDriver.cuInit(0);
        if (result == CUresult.CUDA_ERROR_NO_DEVICE) {
            return "NVIDIA's driver finds no device; check with nvidia-smi";
        }
        if (result != CUresult.CUDA_SUCCESS) {
            String advice = switch (result) {
                // The driver of GPUs that are connected by NVSwitch needs this daemon.
                case CUresult.CUDA_ERROR_SYSTEM_NOT_READY -> "start nvidia-fabricmanager";
                case CUresult.CUDA_ERROR_UNKNOWN ->
                    "check with nvidia-smi, and load the module nvidia_uvm with `nvidia-modprobe -u -c 0`";
                default -> "check with nvidia-smi";
            };
            return "NVIDIA's driver does not start: " + CUresult.stringFor(result) + " (" + result + "); " + advice;
        }
        int[] version = new int[1];
        result = JCudaDriver.cuDriverGetVersion(version);
        if (result != CUresult.CUDA_SUCCESS) {
            return "NVIDIA's driver does not report its version: " + CUresult.stringFor(result) + " (" + result + ")";
        }
        if (version[0] < LEAST_VERSION) {
            return "NVIDIA's driver is too old: it supports CUDA " + version(version[0]) + ", and CUDA "
                + version(LEAST_VERSION) + " is needed; update the driver";
        }
        return null;
    }

    private static String version(int number) {
        return number / 1000 + "." + number % 1000 / 10;
    }
}
