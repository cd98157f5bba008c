package io.modeldisk.mount.fuse;

import io.modeldisk.platform.time.FutureWait;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** The end of a session: unmounts its directory, and waits until its memory is not in use. Thread-safe. */
public final class SessionEnd {
    private static final Logger LOG = LogManager.getLogger(SessionEnd.class);

    private final Path directory;
    private final FuseOptions options;
    private final Unmounter unmounter;
    private boolean closed;

    /** Creates the end of a session that serves this directory. */
    public SessionEnd(Path directory, FuseOptions options, Unmounter unmounter) {
        this.directory = directory;
        this.options = options;
        this.unmounter = unmounter;
    }

    /**
     * Does what {@link FuseSession#close} describes.
     *
     * @param ended completes when no thread of the session uses its memory
     * @param cancel cancels the requests in progress, so that they end
     * @param free frees the memory; not called if a request has not completed within the close timeout
     */
    public synchronized void close(CompletableFuture<Void> ended, Runnable cancel, Runnable free) {
        if (closed) {
            return;
        }
        closed = true;
        if (!ended.isDone()) {
            cancel.run();
            unmounter.unmountForGood(directory);
        }
        if (awaitLastRequests(ended)) {
            free.run();
        }
    }

    /** Returns whether the memory of the session may be freed; if not, a thread may still use it, and the log has the reason. */
    private boolean awaitLastRequests(CompletableFuture<Void> ended) {
        try {
            if (FutureWait.isDoneWithin(ended, FuseOptions.CLOSE_TIMEOUT, options.clock())) {
                ended.join();
                return true;
            }
            LOG.error("{} is unmounted, but a request did not complete within {} ms;"
                + " the memory of the mount is not freed",
                directory, FuseOptions.CLOSE_TIMEOUT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            LOG.error("the thread was interrupted while it waited for the last requests of {};"
                + " the memory of the mount is not freed", directory);
        } catch (CompletionException e) {
            LOG.error("the open files of {} cannot be released; the memory of the mount is not freed", directory,
                e.getCause());
        }
        return false;
    }
}
