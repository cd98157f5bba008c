package io.modeldisk.mount.fuse.kernel;

/** Constants of the kernel's FUSE protocol (linux/fuse.h), and the versions and capabilities that modeldisk supports. */
final class KernelProtocol {
    static final int MAJOR = 7;

    /** The newest minor version that modeldisk supports. */
    static final int MINOR = 40;

    /** The oldest minor version that modeldisk supports (Linux 3.15). The INIT reply of older versions is shorter. */
    static final int OLDEST_MINOR = 23;

    static final int MAX_PAGES = 1 << 22;

    /** INIT_EXT: INIT has a second word of capabilities. */
    static final int INIT_EXT = 1 << 30;

    /**
     * The capabilities that modeldisk requests: ASYNC_READ, BIG_WRITES, ASYNC_DIO, PARALLEL_DIROPS, MAX_PAGES and INIT_EXT.
     */
    static final int CAPABILITIES = 1 | 1 << 5 | 1 << 15 | 1 << 18 | MAX_PAGES | INIT_EXT;

    /** PASSTHROUGH, in the second word: the kernel can use the memory of a file without requests. */
    static final int PASSTHROUGH = 1 << 5;

    /** DIRECT_IO_ALLOW_MMAP, in the second word: processes can map files that bypass the page cache. */
    static final int ALLOW_MMAP = 1 << 4;

    /** HAS_RESEND, in the second word: the kernel can send requests again that a process has received but not answered. */
    static final int HAS_RESEND = 1 << 7;

    /** FUSE_UNIQUE_RESEND: the bit in the number of a request that was sent again. */
    static final long RESENT = 1L << 63;

    /** FUSE_NOTIFY_RESEND: a message to the kernel to send again all requests that have no reply. */
    static final int NOTIFY_RESEND = 7;

    /** FUSE_WRITE_CACHE: a WRITE request with this flag contains changed pages of a map. */
    static final int WRITE_CACHE = 1;

    /** FUSE_NOTIFY_POLL: a message to the kernel that the events of an open file might have changed. */
    static final int NOTIFY_POLL = 1;

    /** FUSE_POLL_SCHEDULE_NOTIFY: a process waits until the file of a POLL request has events. */
    static final int POLL_WAITS = 1;

    /** FUSE_NOTIFY_INVAL_INODE: a message to the kernel that the cached pages of a node are outdated. */
    static final int NOTIFY_INVALID = 2;

    /** FOPEN_PASSTHROUGH: the kernel uses the memory of an opened file without requests. */
    static final int OPEN_PASSTHROUGH = 1 << 7;

    /** The maximum number of asynchronous requests in flight. */
    static final int BACKGROUND = 24;

    /** The maximum number of pages of a process's memory that one read or write request can cover. */
    static final int LARGE_PAGES = 256;

    /** The maximum number of pages in one request if the kernel does not support MAX_PAGES. */
    static final int SMALL_PAGES = 32;

    static final int PAGE_BYTES = 4096;

    /**
     * FOPEN_DIRECT_IO bypasses the page cache, whose pages would be stale. FOPEN_PARALLEL_DIRECT_WRITES allows concurrent writes
     * to one file.
     */
    static final int OPEN_FLAGS = 1 | 1 << 6;

    /** FATTR_SIZE: a SETATTR request with this bit is a truncation. */
    static final int SIZE_ATTRIBUTE = 1 << 3;

    /** FATTR_FH: a SETATTR request with this bit contains a file handle, as for ftruncate(2). */
    static final int HANDLE_ATTRIBUTE = 1 << 6;

    /** FATTR_MODE, FATTR_UID and FATTR_GID: a SETATTR request with these bits changes the mode or the owner. */
    static final int OWNER_ATTRIBUTES = 1 | 1 << 1 | 1 << 2;

    private KernelProtocol() {}
}
