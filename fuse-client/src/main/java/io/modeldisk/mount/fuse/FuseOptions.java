package io.modeldisk.mount.fuse;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.time.Duration;

/**
 * How a binding serves.
 *
 * @param workerThreads how many threads read requests, from 1
 * @param dataRequests how many requests that move data are served at once; more wait without a thread. The threads grow to a few
 *     more, for all other requests
 * @param closeTimeout how long an unmount waits for its threads
 * @param access owner and permissions of the files
 * @param wholeBlockWrites whether a long write that starts and ends at logical blocks is split at logical blocks whatever the
 *     alignment of the caller's memory; its requests are smaller then
 * @param clock measures the time-outs
 * @param memory makes the memory that requests are read into, so that their data need not be copied to go further
 */
public record FuseOptions(int workerThreads, int dataRequests, Duration closeTimeout, FileAccess access,
    boolean wholeBlockWrites, NanoClock clock, Allocator memory) {
    /** Makes memory. */
    @FunctionalInterface
    public interface Allocator {
        /** Memory of this size, or an exception that says why not. */
        DataMemory allocate(long bytes) throws IOException;
    }

    /** Three threads reach a C file system's speed (measured); more helps only where a request waits. */
    public static final int DEFAULT_WORKER_THREADS = 3;

    /** Above the kernel's background requests (24), so that asynchronous I/O alone leaves room for other requests. */
    public static final int DEFAULT_DATA_REQUESTS = 32;

    /** Longer than a wait at the shards should take to notice its cancellation. */
    public static final Duration DEFAULT_CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /** What the file system type is called in the mount table. */
    public static final String TYPE = "fuse.modeldisk";
}
