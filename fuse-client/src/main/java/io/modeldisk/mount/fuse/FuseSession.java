package io.modeldisk.mount.fuse;

import java.util.concurrent.CompletableFuture;

/** A mounted file system that is being served. Thread-safe. */
public interface FuseSession extends AutoCloseable {
    /** Completes when the file system is unmounted, by whomever, every thread has ended and every handle is released. */
    CompletableFuture<Void> ended();

    /** Unmounts, also when files are open, in bounded time, and gives all memory back. Does nothing the second time. */
    @Override
    void close();
}
