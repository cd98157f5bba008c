package io.modeldisk.platform.linux;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Calls functions for memory outside the Java heap. The class is loaded only after {@link SharedMemory} has found the functions
 * that old C libraries lack.
 */
final class MemoryCalls {
    static final int MFD_CLOEXEC = 1;
    static final int MFD_ALLOW_SEALING = 2;
    static final int F_ADD_SEALS = 1033;
    static final int F_GET_SEALS = 1034;
    static final int F_SEAL_SEAL = 1;
    static final int F_SEAL_SHRINK = 2;
    static final int F_SEAL_GROW = 4;
    static final int MAP_SHARED = 1;
    static final int MAP_PRIVATE = 2;
    static final int MAP_ANONYMOUS = 0x20;
    static final int MAP_POPULATE = 0x8000;
    /** The advice that allocates and maps all pages of a range, as a write to each page would do. Available since Linux 5.14. */
    static final int MADV_POPULATE_WRITE = 23;
    static final long TMPFS_MAGIC = 0x01021994;
    /** The size in bytes of a struct statx or statfs buffer. The member offsets below hold on every 64-bit Linux. */
    static final int STATUS_BYTES = 256;
    static final long STATX_SIZE = 40;
    static final long STATX_BLOCKS = 48;
    static final long STATFS_TYPE = 0;

    private static final int PROT_READ_WRITE = 3;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_SIZE_AND_BLOCKS = 0x600;

    private MemoryCalls() {}

    static int memfdCreate(String name, int flags) throws IOException {
        return (int) Errno.check("cannot create a memfd", CLibrary.call("memfd_create", name, flags));
    }

    static void ftruncate(int descriptor, long bytes) throws IOException {
        Errno.check("cannot set the size of the memfd to " + bytes + " bytes",
            CLibrary.call("ftruncate", descriptor, bytes));
    }

    static void fallocate(int descriptor, long bytes) throws IOException {
        Errno.check("cannot allocate " + bytes + " bytes for the memfd",
            CLibrary.call("fallocate", descriptor, 0, 0L, bytes));
    }

    static int fcntl(int descriptor, int command, int argument) throws IOException {
        return (int) Errno.check("cannot read or set the seals of the memfd",
            Descriptors.fcntl(descriptor, command, argument));
    }

    static long mmap(long bytes, int flags, int descriptor, long offset) throws IOException {
        return Errno.check("cannot map " + bytes + " bytes of memory",
            CLibrary.callForLong("mmap", 0L, bytes, PROT_READ_WRITE, flags, descriptor, offset));
    }

    static void unmap(long address, long bytes) {
        long result = CLibrary.call("munmap", address, bytes);
        if (result < 0) {
            throw new IllegalStateException("cannot unmap " + bytes + " bytes of memory: " + Errno.text(-result));
        }
    }

    /** Returns 0, or minus an error number. */
    static long madvise(long address, long bytes, int advice) {
        return CLibrary.call("madvise", address, bytes, advice);
    }

    static void statx(int descriptor, MemorySegment status) throws IOException {
        Errno.check("cannot read the size of the shared memory",
            CLibrary.call("statx", descriptor, "", AT_EMPTY_PATH, STATX_SIZE_AND_BLOCKS, status));
    }

    static void fstatfs(int descriptor, MemorySegment status) throws IOException {
        Errno.check("cannot read the file system type of the shared memory",
            CLibrary.call("fstatfs", descriptor, status));
    }
}
