package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.FutureWait;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** A mounted file system, with the threads that serve it. Thread-safe. */
public abstract class FuseSession implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(FuseSession.class);

    protected final Path directory;
    protected final FuseOptions options;
    private final Unmounter unmounter;
    private boolean closed;

    /** Creates a session that serves this directory. */
    protected FuseSession(Path directory, FuseOptions options, Unmounter unmounter) {
        this.directory = directory;
        this.options = options;
        this.unmounter = unmounter;
    }

    /** Returns how processes access files whose content is memory, and why, as text for status.json. */
    public abstract String memoryFiles();

    /**
     * Returns a future that completes when any process has unmounted the file system, all threads have stopped, and all handles
     * are released.
     */
    public abstract CompletableFuture<Void> ended();

    /**
     * Stops reading requests, so another process can continue the mount. Requests in progress can continue for the time {@code
     * graceful}. After that time they are cancelled, and the kernel sends them to the other process; before Linux 6.9 they fail
     * with EINTR. The directory stays mounted.
     *
     * @return false if requests are still in progress after the close timeout
     */
    public boolean freeze(Duration graceful) {
        throw new UnsupportedOperationException("another process cannot continue this session");
    }

    /** Returns the kernel's number of the request in progress that has this cancellation; 0 if there is none. */
    public long requestNumber(Cancellation cancellation) {
        return 0;
    }

    /** Cancels the requests in progress and all later requests, so they end soon. */
    protected abstract void cancelAll();

    /** Frees the memory. Called only after all threads of the session have stopped using it. */
    protected abstract void free();

    /**
     * Unmounts the file system even if files are open, and frees all memory. Waits at most for the close timeout. A second call
     * does nothing.
     */
    @Override
    public final synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (!ended().isDone()) {
            cancelAll();
            unmounter.unmountForGood(directory);
        }
        if (awaitLastRequests()) {
            free();
        }
    }

    /**
     * Returns whether the memory of the session can be freed. If not, a thread might still use the memory, and this method logs
     * the reason.
     */
    private boolean awaitLastRequests() {
        CompletableFuture<Void> ended = ended();
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
