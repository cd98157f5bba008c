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
 * @param dataRequests the maximum number of data requests that are served at the same time. Further data requests wait and use no
 *     thread
 * @param access the owner and the permissions of the files
 * @param wholeBlockWrites whether to reduce the maximum size of write requests, so the kernel splits a long aligned write only
 *     between logical blocks. If false, the kernel can split the write within a block if the memory of the writer is not aligned
 *     to pages
 * @param readOnly whether the kernel refuses all changes of the files (EROFS)
 * @param clock the clock that measures the timeouts
 * @param handover holds the state from the previous process, and keeps the state of the session for the next process
 * @param memory allocates the memory that receives requests. The argument is the size in bytes. Datamovers can send from this
 *     memory without a copy
 */
public record FuseOptions(String source, int dataRequests, FileAccess access, boolean wholeBlockWrites,
    boolean readOnly,
    NanoClock clock, IoFunction<Long, DataMemory> memory, Handover handover) {
    /** The number of threads that read requests. In measurements, 3 threads were as fast as a file system in C. */
    public static final int WORKER_THREADS = 3;

    /**
     * The default maximum number of data requests. It is above the kernel's limit of 24 background requests, so asynchronous I/O
     * cannot occupy all threads.
     */
    public static final int DEFAULT_DATA_REQUESTS = 32;

    /** The maximum time until the threads of a closed session have stopped. A cancelled request needs less time to complete. */
    public static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /** The file system type in the mount table. */
    public static final String TYPE = "fuse.modeldisk";

    /** Returns the mount options for fusermount3 and libfuse, separated by commas. {@code userId} is the user who mounts. */
    public String libfuseOptions(int userId, int maxReadBytes) {
        return "fsname=" + source.replace("\\", "\\\\").replace(",", "\\,") + ",subtype=modeldisk,default_permissions"
            + (access.isShared(userId) ? ",allow_other" : "") + (readOnly ? ",ro" : "") + ",max_read=" + maxReadBytes;
    }
}
