package io.modeldisk.mount.fuse;

/** Constants of the kernel's FUSE protocol (linux/fuse.h), and the versions and capabilities in use. */
final class KernelProtocol {
    static final int MAJOR = 7;

    /** The newest minor version whose replies are built here. */
    static final int MINOR = 38;

    /** The oldest minor version whose INIT reply has the present length (Linux 3.15). */
    static final int OLDEST_MINOR = 23;

    static final int MAX_PAGES = 1 << 22;

    /** ASYNC_READ, BIG_WRITES, ASYNC_DIO, PARALLEL_DIROPS, MAX_PAGES. */
    static final int CAPABILITIES = 1 | 1 << 5 | 1 << 15 | 1 << 18 | MAX_PAGES;

    /** The number of asynchronous requests that the kernel sends at once. */
    static final int BACKGROUND = 24;

    /** The pages of the caller's memory that one request takes, at most. */
    static final int LARGE_PAGES = 256;

    /** The same for a kernel without MAX_PAGES. */
    static final int SMALL_PAGES = 32;

    static final int PAGE_BYTES = 4096;

    /** FOPEN_DIRECT_IO, because pages of a cache would be stale; FOPEN_PARALLEL_DIRECT_WRITES. */
    static final int OPEN_FLAGS = 1 | 1 << 6;

    static final int ROOT_NODE = 1;

    /** The node number of the first file; the others follow. */
    static final int FIRST_FILE_NODE = 2;

    /** FATTR_SIZE: SETATTR is a truncation. */
    static final int SIZE_ATTRIBUTE = 1 << 3;

    /** FATTR_FH: SETATTR names an open file, so it is an ftruncate(2). */
    static final int HANDLE_ATTRIBUTE = 1 << 6;

    /** FATTR_MODE, FATTR_UID, FATTR_GID. */
    static final int OWNER_ATTRIBUTES = 1 | 1 << 1 | 1 << 2;

    private KernelProtocol() {}
}
