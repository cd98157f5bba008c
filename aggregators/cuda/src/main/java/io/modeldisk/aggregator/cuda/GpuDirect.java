package io.modeldisk.aggregator.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import jcuda.driver.CUresult;

/**
 * The driver's functions for GPUDirect RDMA that JCuda lacks. Drivers before CUDA 11.7 lack some of them. Before each call, the
 * caller must enter the context of a device.
 */
final class GpuDirect {
    private static final int DMA_BUF_DESCRIPTOR = 1;
    private static final int PRESENT_CONTEXT = 0;
    private static final int FOR_OWNER = 100;
    /** The result of {@link #exportDmaBuf} if the driver lacks the function. It differs from every negated driver error. */
    private static final int NO_FUNCTION = Integer.MIN_VALUE;

    private static final MethodHandle EXPORT = function("cuMemGetHandleForAddressRange", ADDRESS, JAVA_LONG, JAVA_LONG,
        JAVA_INT, JAVA_LONG);
    private static final MethodHandle FLUSH = function("cuFlushGPUDirectRDMAWrites", JAVA_INT, JAVA_INT);

    private GpuDirect() {}

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, MemoryLayout... parameters) {
        return SymbolLookup.libraryLookup("libcuda.so.1", Arena.global()).find(name).map(
            symbol -> Linker.nativeLinker().downcallHandle(symbol, FunctionDescriptor.of(JAVA_INT, parameters)))
            .orElse(null);
    }

    /** Returns the file descriptor of a dma-buf for memory of the current device, or a negative number: see {@link #reason}. */
    static int exportDmaBuf(long address, long bytes) {
        if (EXPORT == null) {
            return NO_FUNCTION;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment descriptor = arena.allocateFrom(JAVA_INT, -1);
            int result = (int) EXPORT.invokeExact(descriptor, address, bytes, DMA_BUF_DESCRIPTOR, 0L);
            return result == CUresult.CUDA_SUCCESS ? descriptor.get(JAVA_INT, 0) : -result;
        } catch (Throwable e) {
            throw new IllegalStateException("a call to the driver failed", e);
        }
    }

    /** Returns the reason for a negative result of {@link #exportDmaBuf}. */
    static String reason(int result) {
        return result == NO_FUNCTION
            ? "the driver is older than CUDA 11.7"
            : "cuMemGetHandleForAddressRange failed: " + CUresult.stringFor(-result) + " (" + -result + ")";
    }

    static boolean canFlush() {
        return FLUSH != null;
    }

    /** Waits until the current device's kernels see the writes of other devices. Returns the result of the driver's function. */
    static int flush() {
        try {
            return (int) FLUSH.invokeExact(PRESENT_CONTEXT, FOR_OWNER);
        } catch (Throwable e) {
            throw new IllegalStateException("a call to the driver failed", e);
        }
    }
}
