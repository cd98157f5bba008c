package io.modeldisk.aggregator.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUjit_option;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;
import jcuda.driver.JITOptions;

/** A kernel that is loaded on a device. Thread-safe. */
final class Kernel extends CudaResource {
    /** The number of threads in a group, which the PTX also states. In one pass, a group computes 4096 bytes. */
    private static final int THREADS = 256;

    private static final Pattern INCLUDE = Pattern.compile("(?m)^#include \"(\\w+)\\.ptx\"\\R");

    /** The size of the log in which the driver explains why it refuses PTX, and the number of log lines in an error message. */
    private static final int LOG_BYTES = 8192;
    private static final int LOG_LINES = 3;

    private final CUfunction function;
    private final float[] constants;

    private Kernel(CudaDevice device, CUmodule module, CUfunction function, float[] constants) {
        super(device, "cuModuleUnload", () -> JCudaDriver.cuModuleUnload(module));
        this.function = function;
        this.constants = constants;
    }

    /** Loads a kernel. If the driver refuses the PTX, the message of the {@link CudaException} contains the driver's reason. */
    static Kernel load(CudaDevice device, KernelCall call) {
        byte[] ptx = ptx(call.file()).getBytes(StandardCharsets.UTF_8);
        // The byte after the text stays 0, because the driver needs a zero-terminated text.
        ByteBuffer image = direct(ptx.length + 1).put(0, ptx);
        JITOptions options = new JITOptions();
        options.putInt(CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES);
        options.putBytes(CUjit_option.CU_JIT_ERROR_LOG_BUFFER, new byte[LOG_BYTES]);
        CUmodule module = new CUmodule();
        device.enter();
        int result = JCudaDriver.cuModuleLoadDataJIT(module, Pointer.to(image), options);
        if (result != 0) {
            throw new CudaException("cuModuleLoadDataEx", result, " of " + call.file() + ".ptx on " + device,
                options.getString(CUjit_option.CU_JIT_ERROR_LOG_BUFFER).lines().map(String::strip)
                    .filter(line -> !line.isEmpty()).limit(LOG_LINES).collect(Collectors.joining("; ")));
        }
        CUfunction function = new CUfunction();
        Kernel kernel = new Kernel(device, module, function, call.constants());
        result = JCudaDriver.cuModuleGetFunction(function, module, call.entry());
        if (result != 0) {
            CudaException failure = new CudaException("cuModuleGetFunction", result, " for " + call.entry());
            CudaDevice.closeAfter(failure, kernel);
            throw failure;
        }
        return kernel;
    }

    /** Returns the text of a PTX file of this package, in which the text of each included file replaces its include line. */
    static String ptx(String file) {
        return INCLUDE.matcher(read(file)).replaceAll(line -> Matcher.quoteReplacement(read(line.group(1))));
    }

    private static String read(String file) {
        try (InputStream stream = Kernel.class.getResourceAsStream(file + ".ptx")) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the kernel " + file + ".ptx cannot be read", e);
        }
    }

    /** Returns the parameters for launches whose descriptors are at the device address {@code folds}. */
    Pointer parameters(long folds) {
        Pointer[] parameters = new Pointer[1 + constants.length];
        parameters[0] = Pointer.to(direct(Long.BYTES).putLong(0, folds));
        for (int i = 0; i < constants.length; i++) {
            parameters[1 + i] = Pointer.to(direct(Float.BYTES).putFloat(0, constants[i]));
        }
        return Pointer.to(parameters);
    }

    /** Allocates memory outside the Java heap, because the garbage collector must not move memory that the driver reads. */
    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** Adds a launch to a stream, with {@code blocksX} thread groups for each descriptor. The context must be current. */
    void launch(CudaStream stream, int blocksX, int descriptors, Pointer parameters) {
        CudaException.check("cuLaunchKernel",
            JCudaDriver.cuLaunchKernel(function, blocksX, descriptors, 1, THREADS, 1, 1, 0,
                stream.handle(), parameters, null));
    }
}
