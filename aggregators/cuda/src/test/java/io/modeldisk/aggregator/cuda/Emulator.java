package io.modeldisk.aggregator.cuda;

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

/**
 * The stand-in for NVIDIA's driver in src/test/native: a device that this process emulates. It is compiled by gcc and loaded
 * before JCuda, which then uses it because of its name, libcuda.so.1.
 *
 * <p>With {@code -Dcuda.driver=real}, the tests use the driver and the first GPU of this machine instead. Those that need more of
 * the emulated driver are skipped.
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

    /** Waits until the work of a batch or of an event is complete. Returns false after the time-out. */
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

    /** The loaded library. */
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

    /** Skips the test if it would use the real driver. */
    static void assumeEmulated() {
        assumeTrue(!REAL, "this test needs the emulated driver");
    }

    /** Sets up one good device. Skips the test if gcc is missing. Does nothing to the real driver, which must be there. */
    public static void reset(long seed) {
        if (REAL) {
            Cuda.ensureAvailability();
        } else {
            reset(1, VERSION, 7, 0, seed);
        }
    }

    /** Sets up one good device with this much memory. */
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

    /** Makes call number {@code call} from now on fail, and with {@code always} all later calls; 0 for no failure. */
    public static void fail(int call, int error, boolean always) {
        assumeEmulated();
        call(Loaded.FAIL, call, error, always ? 1 : 0);
    }

    /** Chooses whether the device does no work, until {@link #reset}. A device that works again has done what it had to do. */
    static void hang(boolean hangs) {
        assumeEmulated();
        call(Loaded.HANG, hangs ? 1 : 0);
    }

    /**
     * Chooses the ways by which RDMA devices reach memory that is allocated later, after {@link #reset}: none of them then.
     *
     * @param ordered whether kernels see what RDMA devices write without a flush
     */
    public static void gpuDirect(boolean byAddress, boolean byDmaBuf, boolean ordered) {
        assumeEmulated();
        call(Loaded.GPUDIRECT, byAddress ? 1 : 0, byDmaBuf ? 1 : 0, ordered ? 1 : 0);
    }

    /** Writes native memory to device memory as an RDMA device does. */
    public static void arrive(long address, MemorySegment data) {
        if ((int) call(Loaded.ARRIVE, address, data, data.byteSize()) == 0) {
            throw new IllegalArgumentException("RDMA devices do not reach the address " + address);
        }
    }

    /** Returns the number of calls since {@link #fail}. */
    static int calls() {
        return (int) call(Loaded.CALLS);
    }

    /** Returns the name of the function that has failed first since {@link #fail}. */
    static String failedCall() {
        return text(Loaded.FAILED_CALL);
    }

    /** Returns the reason of the newest failure; empty with the real driver. */
    public static String message() {
        return REAL ? "" : text(Loaded.MESSAGE);
    }

    /** Returns the number of objects that a context had to free because nobody else did; 0 with the real driver. */
    static int leaked() {
        return REAL ? 0 : (int) call(Loaded.LEAKED);
    }

    /** Returns the number of objects that exist now; 0 with the real driver. */
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
