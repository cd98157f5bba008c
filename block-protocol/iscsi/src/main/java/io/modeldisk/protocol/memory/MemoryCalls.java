package io.modeldisk.protocol.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/** Linux's calls for memory that processes share. Only loaded once {@link SharedMemory} has seen that they are there. */
final class MemoryCalls {
    static final int MFD_CLOEXEC = 1;
    static final int MFD_ALLOW_SEALING = 2;
    static final int F_ADD_SEALS = 1033;
    static final int F_GET_SEALS = 1034;
    static final int F_SEAL_SEAL = 1;
    static final int F_SEAL_SHRINK = 2;
    static final int F_SEAL_GROW = 4;
    static final int PROT_READ_WRITE = 3;
    static final int MAP_SHARED = 1;
    static final int MAP_POPULATE = 0x8000;
    static final long TMPFS_MAGIC = 0x01021994;
    static final int AT_EMPTY_PATH = 0x1000;
    static final int STATX_SIZE_AND_BLOCKS = 0x600;
    /** Room for a struct statx or a struct statfs, which are the same on every 64-bit Linux up to the fields used here. */
    static final int STATUS_BYTES = 256;
    static final long STATX_SIZE = 40;
    static final long STATX_BLOCKS = 48;
    static final long STATFS_TYPE = 0;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle MEMFD_CREATE = handle("memfd_create",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE = handle("ftruncate",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FALLOCATE = handle("fallocate",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FCNTL = handle("fcntl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MMAP = handle("mmap",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = handle("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle STATX = handle("statx",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle FSTATFS = handle("fstatfs", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle STRERROR = handle("strerror", FunctionDescriptor.of(ADDRESS, JAVA_INT));

    private MemoryCalls() {}

    /** What this machine lacks, or null. */
    static String missing() {
        if (!System.getProperty("os.name").equals("Linux") || ADDRESS.byteSize() != Long.BYTES) {
            return "it needs a 64-bit Linux, here is " + System.getProperty("os.name");
        }
        for (String name : new String[]{"memfd_create", "statx"}) {
            Optional<MemorySegment> symbol = Linker.nativeLinker().defaultLookup().find(name);
            if (symbol.isEmpty()) {
                return "the C library has no " + name;
            }
        }
        return null;
    }

    static int memfdCreate(String name, int flags) throws IOException {
        return (int) call("memfd_create", MEMFD_CREATE, name, flags);
    }

    static void ftruncate(int fd, long bytes) throws IOException {
        call("ftruncate", FTRUNCATE, fd, bytes);
    }

    static void fallocate(int fd, long bytes) throws IOException {
        call("fallocate", FALLOCATE, fd, 0, 0L, bytes);
    }

    static int fcntl(int fd, int command, int argument) throws IOException {
        return (int) call("fcntl", FCNTL, fd, command, argument);
    }

    static long mmap(long bytes, int flags, int fd) throws IOException {
        return call("mmap", MMAP, 0L, bytes, PROT_READ_WRITE, flags, fd, 0L);
    }

    static void munmap(long address, long bytes) throws IOException {
        call("munmap", MUNMAP, address, bytes);
    }

    static void close(int fd) throws IOException {
        call("close", CLOSE, fd);
    }

    static void statx(int fd, MemorySegment to) throws IOException {
        call("statx", STATX, fd, "", AT_EMPTY_PATH, STATX_SIZE_AND_BLOCKS, to);
    }

    static void fstatfs(int fd, MemorySegment to) throws IOException {
        call("fstatfs", FSTATFS, fd, to);
    }

    private static long call(String name, MethodHandle function, Object... arguments) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Object[] all = new Object[arguments.length + 1];
            MemorySegment state = arena.allocate(STATE);
            all[0] = state;
            for (int i = 0; i < arguments.length; i++) {
                all[i + 1] = arguments[i] instanceof String text ? arena.allocateFrom(text) : arguments[i];
            }
            Object returned = function.invokeWithArguments(all);
            long result = returned instanceof Long wide ? wide : (int) returned;
            if (result == -1) {
                throw new IOException(name + ": " + text((int) ERRNO.get(state, 0L), state));
            }
            return result;
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(name + " could not be called", e);
        }
    }

    // The C library's text for an error number is a string that stays.
    @SuppressWarnings("restricted")
    private static String text(int errno, MemorySegment state) throws Throwable {
        MemorySegment text = (MemorySegment) STRERROR.invokeExact(state, errno);
        return text.reinterpret(STATUS_BYTES).getString(0) + " (errno " + errno + ")";
    }

    // The signatures above are those of the C library.
    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        System.arraycopy(options, 0, all, 1, options.length);
        all[0] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type, all);
    }
}
