package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.opentest4j.TestAbortedException;

/**
 * The emulated CUDA driver from src/test/native, with emulated devices in this process. gcc compiles it to a library named
 * libcuda.so.1. The library is loaded before JCuda, so JCuda uses it instead of NVIDIA's driver.
 *
 * <p>With {@code -Dcuda.driver=real}, the tests use the driver and the first GPU of this machine instead. Tests that need the
 * emulated driver are then skipped.
 */
@SuppressWarnings("restricted")
public final class Emulator {
    static final int VERSION = 12060;
    static final long MEMORY_BYTES = 256L << 20;

    private static final int NO_COMPILER = 127;
    private static final boolean REAL = switch (System.getProperty("cuda.driver", "emulated")) {
        case "emulated" -> false;
        case "real" -> true;
        case String other -> throw new IllegalArgumentException("cuda.driver=" + other + " must be emulated or real");
    };
    private static final Path MODULE = Path.of(System.getProperty("project.root"), "aggregators", "cuda");
    private static final Path LIBRARY = MODULE.resolve("target/emulator/libcuda.so.1");
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private Emulator() {}

    /** Waits until a batch or an event is complete. Returns false after the time-out. */
    static boolean await(BooleanSupplier complete, long timeoutMs) throws InterruptedException {
        long endNs = NanoClock.SYSTEM.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!complete.getAsBoolean()) {
            if (NanoClock.SYSTEM.nanoTime() - endNs >= 0) {
                return false;
            }
            NanoClock.SYSTEM.sleep(20, TimeUnit.MICROSECONDS);
        }
        return true;
    }

    /** Waits until the work of a stream is complete. */
    static void awaitWork(CudaDevice device, CudaStream stream) throws InterruptedException {
        CudaEvent done = device.newEvent();
        stream.record(done);
        assertThat(await(done::isComplete, 60_000)).as("the work is complete; " + message()).isTrue();
    }

    /** A test that depends on a seed. */
    @FunctionalInterface
    interface SeededTest {
        void run(long seed) throws InterruptedException;
    }

    /** Runs a test with each seed from 1 to {@code seeds}. Adds the seed to each error, and checks that no object stays open. */
    static void forEachSeed(long seeds, SeededTest test) throws InterruptedException {
        for (long seed = 1; seed <= seeds; seed++) {
            reset(seed);
            try {
                test.run(seed);
            } catch (TestAbortedException e) {
                throw e;
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + message(), e);
            }
            assertThat(live()).as("open objects after seed %d", seed).isZero();
        }
    }

    /**
     * Runs a test once without failures. Then, for each of its calls to the driver, runs the test again with a failure of this
     * call, and passes the exception of the test to {@code check}.
     */
    static void forEachFailingCall(int error, boolean always, ThrowingCallable test, Consumer<Throwable> check) {
        fail(0, 0, false);
        assertThatCode(test).doesNotThrowAnyException();
        int calls = calls();
        for (int call = 1; call <= calls; call++) {
            reset(1);
            fail(call, error, always);
            check.accept(catchThrowable(test));
        }
    }

    /** The functions of the loaded library, which is compiled and loaded at the first use of this class. */
    private static final class Loaded {
        private static final String FAILURE = load();
        private static final MethodHandle RESET = function("emulator_reset", null, INT, INT, INT, INT, LONG, LONG);
        private static final MethodHandle FAIL = function("emulator_fail", null, INT, INT, INT);
        private static final MethodHandle HANG = function("emulator_hang", null, INT);
        private static final MethodHandle GPUDIRECT = function("emulator_gpudirect", null, INT, INT, INT);
        private static final MethodHandle ARRIVE = function("emulator_arrive", INT, LONG, ValueLayout.ADDRESS, LONG);
        private static final MethodHandle CALLS = function("emulator_calls", INT);
        private static final MethodHandle LEAKED = function("emulator_leaked", INT);
        private static final MethodHandle LIVE = function("emulator_live", INT);
        private static final MethodHandle FAILED_CALL = function("emulator_failed_call", ValueLayout.ADDRESS);
        private static final MethodHandle MESSAGE = function("emulator_message", ValueLayout.ADDRESS);

        private static String load() {
            try {
                Process build = new ProcessBuilder(MODULE.resolve("src/test/native/build").toString(),
                    LIBRARY.toString()).redirectErrorStream(true).start();
                String output = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                int status = build.waitFor();
                if (status == NO_COMPILER) {
                    return "gcc is not installed: " + output;
                }
                if (status != 0) {
                    throw new IllegalStateException("the emulated driver does not compile:\n" + output);
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
            System.load(LIBRARY.toString());
            return null;
        }

        private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... parameters) {
            if (FAILURE != null) {
                return null;
            }
            MemorySegment address = SymbolLookup.libraryLookup(LIBRARY, Arena.global()).findOrThrow(name);
            return Linker.nativeLinker().downcallHandle(address, result == null
                ? FunctionDescriptor.ofVoid(parameters)
                : FunctionDescriptor.of(result, parameters));
        }
    }

    /** Skips the test if the tests use the real driver. */
    static void assumeEmulated() {
        assumeTrue(!REAL, "this test needs the emulated driver");
    }

    /** Sets up one device without faults. Skips the test if gcc is missing. With the real driver, only checks the driver. */
    public static void reset(long seed) {
        if (REAL) {
            Cuda.ensureAvailability();
        } else {
            reset(1, VERSION, 7, 0, seed);
        }
    }

    /** Sets up one device without faults and with this amount of memory. */
    public static void resetWithMemory(long memoryBytes) {
        reset(1, VERSION, 7, 0, memoryBytes, 1);
    }

    static void reset(int devices, int version, int major, int minor, long seed) {
        reset(devices, version, major, minor, MEMORY_BYTES, seed);
    }

    private static void reset(int devices, int version, int major, int minor, long memoryBytes, long seed) {
        assumeEmulated();
        assumeTrue(Loaded.FAILURE == null, Loaded.FAILURE);
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "JCuda has no native library for this processor");
        call(Loaded.RESET, devices, version, major, minor, memoryBytes, seed);
    }

    /**
     * Makes a later call to the driver fail, number 1 being the next call. With 0, no call fails. If {@code always} is true, all
     * calls after the failed call fail too.
     */
    public static void fail(int call, int error, boolean always) {
        assumeEmulated();
        call(Loaded.FAIL, call, error, always ? 1 : 0);
    }

    /** Makes the device hang, so it does no work. With {@code false}, the device completes all its work instead. */
    static void hang(boolean hangs) {
        assumeEmulated();
        call(Loaded.HANG, hangs ? 1 : 0);
    }

    /**
     * Sets how RDMA devices can reach device memory that is allocated later: by its addresses, by a dma-buf, or both. After
     * {@link #reset}, they cannot reach it at all.
     *
     * @param ordered whether kernels see the writes of RDMA devices without a flush
     */
    public static void gpuDirect(boolean byAddress, boolean byDmaBuf, boolean ordered) {
        assumeEmulated();
        call(Loaded.GPUDIRECT, byAddress ? 1 : 0, byDmaBuf ? 1 : 0, ordered ? 1 : 0);
    }

    /** Copies native memory to device memory in the way in which an RDMA device would write it. */
    public static void arrive(long address, MemorySegment data) {
        if ((int) call(Loaded.ARRIVE, address, data, data.byteSize()) == 0) {
            throw new IllegalArgumentException("RDMA devices cannot reach the device address " + address);
        }
    }

    /** Returns the number of calls to the driver since {@link #fail}. */
    static int calls() {
        return (int) call(Loaded.CALLS);
    }

    /** Returns the name of the function that failed first since {@link #fail}, or an empty text if none failed. */
    static String failedCall() {
        return text(Loaded.FAILED_CALL);
    }

    /** Returns the reason for the newest failure. With the real driver, the text is empty. */
    public static String message() {
        return REAL ? "" : text(Loaded.MESSAGE);
    }

    /** Returns the number of objects that were freed only with their context. With the real driver, the result is 0. */
    static int leaked() {
        return REAL ? 0 : (int) call(Loaded.LEAKED);
    }

    /** Returns the number of objects that are not freed yet. With the real driver, the result is 0. */
    public static int live() {
        return REAL ? 0 : (int) call(Loaded.LIVE);
    }

    private static String text(MethodHandle function) {
        return ((MemorySegment) call(function)).reinterpret(256).getString(0);
    }

    private static Object call(MethodHandle function, Object... arguments) {
        try {
            return function.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
