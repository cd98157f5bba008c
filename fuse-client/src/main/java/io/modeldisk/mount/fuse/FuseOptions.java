package io.modeldisk.mount.fuse;

import io.modeldisk.mount.handover.Handover;
import io.modeldisk.platform.function.IoFunction;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import java.time.Duration;

/**
 * The options of a FUSE binding.
 *
 * @param source the source of the mount in the mount table, which mount(8) and df(1) show
 * @param dataRequests the maximum number of data requests that are served at the same time. Further data requests wait without a
 *     thread
 * @param access the owner and the permissions of the files
 * @param wholeBlockWrites whether write requests are made smaller, so the kernel splits a long aligned write between logical
 *     blocks. If false, the kernel may split the write within a block if the memory of the writer is not aligned to pages
 * @param readOnly whether the kernel refuses all changes of the files (EROFS)
 * @param clock the clock that measures the timeouts
 * @param handover what the session gets from the previous process, and keeps for the process after it
 * @param memory allocates the memory that receives requests, of a size in bytes. Datamovers can send from it without a copy
 */
public record FuseOptions(String source, int dataRequests, FileAccess access, boolean wholeBlockWrites,
    boolean readOnly,
    NanoClock clock, IoFunction<Long, DataMemory> memory, Handover handover) {
    /** The number of threads that read requests: 3 are as fast as a file system in C (measured). */
    public static final int WORKER_THREADS = 3;

    /** The default is above the kernel's limit of 24 background requests, so asynchronous I/O leaves threads free. */
    public static final int DEFAULT_DATA_REQUESTS = 32;

    /** The maximum time until the threads of a closed session have stopped: longer than a cancelled request needs to complete. */
    public static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /** The file system type in the mount table. */
    public static final String TYPE = "fuse.modeldisk";

    /** Returns the options of fusermount3 and libfuse, which separate options by commas, for a mount by a user. */
    public String libfuseOptions(int userId, int maxReadBytes) {
        return "fsname=" + source.replace("\\", "\\\\").replace(",", "\\,") + ",subtype=modeldisk,default_permissions"
            + (access.isShared(userId) ? ",allow_other" : "") + (readOnly ? ",ro" : "") + ",max_read=" + maxReadBytes;
    }
}
