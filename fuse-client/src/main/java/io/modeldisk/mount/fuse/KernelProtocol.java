package io.modeldisk.mount.fuse;

/** What is offered to the kernel at INIT, and the smallest protocol that serves (linux/fuse.h). */
final class KernelProtocol {
    static final int MAJOR = 7;

    /** The newest whose replies are built here. */
    static final int MINOR = 38;

    /** The oldest: its INIT reply has today's length (Linux 3.15). */
    static final int OLDEST_MINOR = 23;

    static final int MAX_PAGES = 1 << 22;

    /** ASYNC_READ, BIG_WRITES, ASYNC_DIO, PARALLEL_DIROPS, MAX_PAGES. */
    static final int CAPABILITIES = 1 | 1 << 5 | 1 << 15 | 1 << 18 | MAX_PAGES;

    /** How many asynchronous requests the kernel sends at once. */
    static final int BACKGROUND = 24;

    /** What a kernel without MAX_PAGES can send: 32 pages. */
    static final int SMALL_WRITE_BYTES = 32 * 4096;

    /** FOPEN_DIRECT_IO: no page cache, whose weights would be stale; FOPEN_PARALLEL_DIRECT_WRITES. */
    static final int OPEN_FLAGS = 1 | 1 << 6;

    static final int ROOT_NODE = 1;

    /** The i-th file's node is this and i. */
    static final int FIRST_FILE_NODE = 2;

    /** FATTR_MODE, FATTR_UID, FATTR_GID. */
    static final int OWNER_ATTRIBUTES = 1 | 1 << 1 | 1 << 2;

    private KernelProtocol() {}
}
