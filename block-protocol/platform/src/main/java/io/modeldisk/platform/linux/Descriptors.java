package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls system functions on file descriptors. Each method returns the result of its function, or minus the error number.
 * Thread-safe.
 */
public final class Descriptors {
    public static final int O_RDWR = 2;
    public static final int O_NONBLOCK = 0x800;
    public static final int O_CLOEXEC = 0x80000;
    static final int F_SETFL = 4;
    private static final int F_SETFD = 2;
    private static final int FD_CLOEXEC = 1;

    // Addresses are passed as numbers, so that no object is allocated on the data path.
    private static final MethodHandle READV = CLibrary.function("readv",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle WRITEV = CLibrary.function("writev",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle OPEN = CLibrary.function("open",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = CLibrary.function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle FCNTL = CLibrary.function("fcntl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle IOCTL = CLibrary.function("ioctl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS), Linker.Option.firstVariadicArg(2));

    private Descriptors() {}

    /** Reads into {@code count} buffers. {@code vectorAddress} is the address of their {@code struct iovec} entries. */
    public static long readv(MemorySegment callState, int descriptor, long vectorAddress, int count) {
        try {
            return CLibrary.result(callState, (long) READV.invokeExact(callState, descriptor, vectorAddress, count));
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }

    /** Writes from {@code count} buffers. {@code vectorAddress} is the address of their {@code struct iovec} entries. */
    public static long writev(MemorySegment callState, int descriptor, long vectorAddress, int count) {
        try {
            return CLibrary.result(callState, (long) WRITEV.invokeExact(callState, descriptor, vectorAddress, count));
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }

    /** Opens an existing file. Returns the new descriptor, or minus the error number. */
    public static int open(String path, int flags) {
        return (int) CLibrary.call(OPEN, path, flags);
    }

    public static int close(int descriptor) {
        return (int) CLibrary.call(CLOSE, descriptor);
    }

    /** Executes a command of fcntl(2) whose argument is an int. */
    static int fcntl(int descriptor, int command, int argument) {
        return (int) CLibrary.call(FCNTL, descriptor, command, argument);
    }

    /** Prevents that child processes inherit a descriptor. */
    static void closeOnExec(int descriptor) {
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }

    /** Executes a request of ioctl(2) whose argument is a pointer to an int. */
    public static int ioctl(int descriptor, long request, int argument) {
        try (Arena arena = Arena.ofConfined()) {
            return ioctl(descriptor, request, arena.allocateFrom(JAVA_INT, argument));
        }
    }

    /** Executes a request of ioctl(2) whose argument is a pointer to a structure. */
    public static int ioctl(int descriptor, long request, MemorySegment argument) {
        return (int) CLibrary.call(IOCTL, descriptor, request, argument);
    }
}
