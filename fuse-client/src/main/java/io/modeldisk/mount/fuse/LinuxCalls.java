package io.modeldisk.mount.fuse;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** The system calls of the kernel binding. Each returns what the call returns, or minus the error number. */
final class LinuxCalls {
    static final int O_RDWR = 2;
    static final int O_CLOEXEC = 0x80000;
    static final long MS_NOSUID = 2;
    static final long MS_NODEV = 4;
    static final int MNT_FORCE = 1;
    static final int MNT_DETACH = 2;
    static final int UMOUNT_NOFOLLOW = 8;
    static final StructLayout STATE = Linker.Option.captureStateLayout();

    private static final Linker LINKER = Linker.nativeLinker();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    // Vectors go by address, as a number: nothing is wrapped or made on the data path.
    private static final MethodHandle READV = handle("readv",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle WRITEV = handle("writev",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle OPEN = handle("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
        Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle IOCTL = handle("ioctl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MOUNT = handle("mount",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle UMOUNT2 = handle("umount2", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETEUID = handle("geteuid", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle GETEGID = handle("getegid", FunctionDescriptor.of(JAVA_INT));

    private LinuxCalls() {}

    static long readv(MemorySegment state, int fd, long vectorAddress, int count) {
        try {
            return result(state, (long) READV.invokeExact(state, fd, vectorAddress, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static long writev(MemorySegment state, int fd, long vectorAddress, int count) {
        try {
            return result(state, (long) WRITEV.invokeExact(state, fd, vectorAddress, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static int open(String path, int flags) {
        return call(OPEN, path, flags);
    }

    static int close(int fd) {
        return call(CLOSE, fd);
    }

    /** An ioctl whose argument is a pointer to an int. */
    static int ioctl(int fd, long request, int argument) {
        try (Arena arena = Arena.ofConfined()) {
            return call(IOCTL, fd, request, arena.allocateFrom(JAVA_INT, argument));
        }
    }

    static int mount(String source, String target, String type, long flags, String options) {
        return call(MOUNT, source, target, type, flags, options);
    }

    static int umount(String target, int flags) {
        return call(UMOUNT2, target, flags);
    }

    static int effectiveUserId() {
        return call(GETEUID);
    }

    static int effectiveGroupId() {
        return call(GETEGID);
    }

    /** A call off the data path: strings become C strings. */
    static int call(MethodHandle function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            Object[] all = new Object[arguments.length + 1];
            all[0] = arena.allocate(STATE);
            for (int i = 0; i < arguments.length; i++) {
                all[i + 1] = arguments[i] instanceof String text ? arena.allocateFrom(text) : arguments[i];
            }
            return (int) result((MemorySegment) all[0], (int) function.invokeWithArguments(all));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    // The signatures above are those of the C library.
    @SuppressWarnings("restricted")
    static MethodHandle handle(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        System.arraycopy(options, 0, all, 1, options.length);
        all[0] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type, all);
    }

    private static long result(MemorySegment state, long returned) {
        return returned == -1 ? -(int) ERRNO.get(state, 0L) : returned;
    }

    private static IllegalStateException unexpected(Throwable e) {
        return new IllegalStateException("a system call could not be made", e);
    }
}
