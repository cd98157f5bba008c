package io.modeldisk.mount.fuse;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.time.Duration;

/**
 * The options of a binding.
 *
 * @param workerThreads the number of threads that read requests, from 1
 * @param dataRequests how many requests that move data are served at once; more wait without a thread. The threads grow to a few
 *     more, for all other requests
 * @param closeTimeout how long an unmount waits for its threads
 * @param access owner and permissions of the files
 * @param wholeBlockWrites whether a long write that starts and ends at logical blocks is split at logical blocks whatever the
 *     alignment of the caller's memory; its requests are smaller then
 * @param clock measures the time-outs
 * @param memory allocates the memory that requests are read into, of the kind that their data can be sent from without a copy
 */
public record FuseOptions(int workerThreads, int dataRequests, Duration closeTimeout, FileAccess access,
    boolean wholeBlockWrites, NanoClock clock, Allocator memory) {
    /** Allocates memory for requests. */
    @FunctionalInterface
    public interface Allocator {
        /** Memory of this size. */
        DataMemory allocate(long bytes) throws IOException;
    }

    /** Three threads reach the speed of a file system in C (measured); more help only if requests wait. */
    public static final int DEFAULT_WORKER_THREADS = 3;

    /** Above the kernel's background requests (24), so that asynchronous I/O alone leaves room for other requests. */
    public static final int DEFAULT_DATA_REQUESTS = 32;

    /** Longer than a cancelled request needs to end. */
    public static final Duration DEFAULT_CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /** The file system type in the mount table. */
    public static final String TYPE = "fuse.modeldisk";
}
