package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Logs one line for each failed request or reply. Within one second, only counts further failures for the same reason, also of
 * requests for other bytes. Thread-safe.
 */
final class FailureLog {
    private static final Logger LOG = LogManager.getLogger(FailureLog.class);
    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(1);

    private final NanoClock clock;
    // Guarded by this.
    private String lastReason = "";
    private String lastText = "";
    private long lastNs;
    private long repeated;

    FailureLog(NanoClock clock) {
        this.clock = clock;
    }

    /** Logs a failure whose message states the reason. */
    void failed(String what, Errno answer, IOException e) {
        String text = what + " failed with " + answer + ": " + e.getMessage();
        if (isNew(answer + ": " + e.getMessage(), text)) {
            LOG.warn(text);
        }
    }

    /** Logs that a reply could not be sent. */
    void notSent(String reply, IOException e) {
        String text = reply + " could not be sent: " + e.getMessage();
        if (isNew(text, text)) {
            LOG.warn(text);
        }
    }

    /** Logs a failure that is a defect of modeldisk, with its stack trace. */
    void failed(String what, Throwable e) {
        String text = what + " failed with EIO because of an error in modeldisk: " + e;
        if (isNew(e.toString(), text)) {
            LOG.error(text, e);
        }
    }

    private synchronized boolean isNew(String reason, String text) {
        long now = clock.nanoTime();
        if (reason.equals(lastReason) && now - lastNs < QUIET_NS) {
            repeated++;
            return false;
        }
        if (repeated > 0) {
            LOG.warn("this failure was repeated {} times: {}", repeated, lastText);
        }
        lastReason = reason;
        lastText = text;
        lastNs = now;
        repeated = 0;
        return true;
    }
}
