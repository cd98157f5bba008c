package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A mounted file system, with the threads that serve it. Thread-safe. */
public interface FuseSession extends AutoCloseable {
    /** Returns how processes get the memory that is the content of a file, with the reason, as shown in status.json. */
    String memoryFiles();

    /**
     * Returns a future that completes when any process has unmounted the file system, all threads have stopped, and all handles
     * are released.
     */
    CompletableFuture<Void> ended();

    /**
     * Stops to read requests, so that another process can continue. Requests that are in progress get {@code graceful} to end.
     * Then they are cancelled, and the kernel sends them to the other process; before Linux 6.9 they fail with EINTR. The
     * mount stays.
     *
     * @return false if requests have not ended within the close timeout
     */
    default boolean freeze(Duration graceful) {
        throw new UnsupportedOperationException("this session ends with its process");
    }

    /** Returns the number of the request in progress that has this cancellation; 0 if there is none. */
    default long requestNumber(Cancellation cancellation) {
        return 0;
    }

    /**
     * Unmounts the file system even if files are open, and frees all memory. Waits at most for the close timeout. A second call
     * does nothing.
     */
    @Override
    void close();
}
