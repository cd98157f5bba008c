package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Calls system functions on file descriptors. Each method returns the result of its function, or minus the error number.
 * Thread-safe.
 */
public final class Descriptors {
    public static final int O_RDWR = 2;
    public static final int O_NONBLOCK = 0x800;
    public static final int O_CLOEXEC = 0x80000;
    static final int O_NOFOLLOW = System.getProperty("os.arch").equals("aarch64") ? 0x8000 : 0x20000;
    static final int F_SETFL = 4;
    private static final int F_SETFD = 2;
    private static final int FD_CLOEXEC = 1;

    // Addresses are passed as numbers, so no object is allocated on the data path.
    private static final CLibrary.Function READV = CLibrary.function("readv");
    private static final CLibrary.Function WRITEV = CLibrary.function("writev");

    private Descriptors() {}

    /** Reads into {@code count} buffers. {@code vectorAddress} is the address of their {@code struct iovec} entries. */
    public static long readv(MemorySegment callState, int descriptor, long vectorAddress, int count) {
        return READV.call(callState, descriptor, vectorAddress, count);
    }

    /** Writes from {@code count} buffers. {@code vectorAddress} is the address of their {@code struct iovec} entries. */
    public static long writev(MemorySegment callState, int descriptor, long vectorAddress, int count) {
        return WRITEV.call(callState, descriptor, vectorAddress, count);
    }

    /** Writes the bytes of a segment outside of the Java heap. Must not be used on the data path. */
    public static long write(int descriptor, MemorySegment bytes) {
        return CLibrary.callForLong("write", descriptor, bytes, bytes.byteSize());
    }

    /** Opens an existing file. Returns the new descriptor, or minus the error number. */
    public static int open(String path, int flags) {
        return open(path, flags, 0);
    }

    /** Opens a file. {@code mode} contains the permissions of a file that O_CREAT creates. */
    static int open(String path, int flags, int mode) {
        return CLibrary.call("open", path, flags, mode);
    }

    public static int close(int descriptor) {
        return CLibrary.call("close", descriptor);
    }

    /** Executes a command of fcntl(2) whose argument is an int. */
    static int fcntl(int descriptor, int command, int argument) {
        return CLibrary.call("fcntl", descriptor, command, argument);
    }

    /** Prevents child processes from inheriting a descriptor. */
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
        return CLibrary.call("ioctl", descriptor, request, argument);
    }
}
