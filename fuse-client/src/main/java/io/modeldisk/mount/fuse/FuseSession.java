package io.modeldisk.mount.fuse;

import java.util.concurrent.CompletableFuture;

/** A mounted file system that is being served. Thread-safe. */
public interface FuseSession extends AutoCloseable {
    /** Completes when the file system is unmounted, by any process, all threads have ended and all handles are released. */
    CompletableFuture<Void> ended();

    /** Unmounts in bounded time, even if files are open, and frees all memory. A second call does nothing. */
    @Override
    void close();
}
