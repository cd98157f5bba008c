package io.modeldisk.mount.fuse;

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
     * Unmounts the file system even if files are open, and frees all memory. Waits at most for the close timeout. A second call
     * does nothing.
     */
    @Override
    void close();
}
