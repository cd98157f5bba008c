package io.modeldisk.mount.fuse;

import io.modeldisk.platform.time.FutureWait;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** The end of a session whose directory was unmounted. */
final class SessionEnd {
    private static final Logger LOG = LogManager.getLogger(SessionEnd.class);

    private SessionEnd() {}

    /**
     * Waits until the last requests have completed, at most for the close timeout.
     *
     * @return whether the memory of the session may be freed; if not, a thread may still use it, and the log has the reason
     */
    static boolean await(Path directory, CompletableFuture<Void> ended, FuseOptions options) {
        try {
            if (FutureWait.isDoneWithin(ended, options.closeTimeout(), options.clock())) {
                ended.join();
                return true;
            }
            LOG.error("{} is unmounted, but a request did not complete within {} ms;"
                + " the memory of the mount is not freed",
                directory, options.closeTimeout().toMillis());
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
