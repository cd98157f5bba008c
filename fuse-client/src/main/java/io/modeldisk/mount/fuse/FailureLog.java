package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Determines the error number for each failed request, and logs one line for each failed request or reply. If the same reason
 * occurs again within one second, even for a request for other bytes, the failure is only counted. Thread-safe.
 */
public final class FailureLog {
    private static final Logger LOG = LogManager.getLogger(FailureLog.class);
    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(1);

    // These errors are not logged, because they are part of normal use: programs look up missing names, and signals interrupt
    // calls.
    private static final Set<Errno> NOT_LOGGED = EnumSet.of(Errno.ENOENT, Errno.ENOTDIR, Errno.ENOSYS, Errno.EINTR,
        Errno.ENAMETOOLONG);

    private final NanoClock clock;
    private final Function<IOException, Errno> errno;
    // Guarded by this.
    private String lastReason = "";
    private String lastText = "";
    private long lastNs;
    private long repeated;

    /**
     * Creates a log.
     *
     * @param errno see {@link FuseFileSystem#errno}
     */
    public FailureLog(NanoClock clock, Function<IOException, Errno> errno) {
        this.clock = clock;
        this.errno = errno;
    }

    /**
     * Returns the error number for the process whose request has failed. Logs the failure, unless such a failure is part of
     * normal use.
     *
     * @param what describes the request
     * @param cancelled whether the request was cancelled, by a signal to the process or by the end of the mount
     */
    public Errno answerTo(Supplier<String> what, Throwable failure, boolean cancelled) {
        return switch (failure) {
            case ErrnoException e when NOT_LOGGED.contains(e.errno()) -> e.errno();
            case ErrnoException e -> {
                errno.apply(e);
                yield logged(what, e.errno(), e);
            }
            case IOException e -> cancelled ? Errno.EINTR : logged(what, errno.apply(e), e);
            default -> {
                failed(what.get(), failure);
                errno.apply(new IOException("an error in modeldisk: " + failure, failure));
                yield Errno.EIO;
            }
        };
    }

    private Errno logged(Supplier<String> what, Errno answer, IOException e) {
        String text = what.get() + " failed with " + answer + ": " + e.getMessage();
        if (isNew(answer + ": " + e.getMessage(), text)) {
            LOG.warn(text);
        }
        return answer;
    }

    /** Logs that a reply could not be sent. */
    public void notSent(String reply, IOException e) {
        String text = reply + " could not be sent: " + e.getMessage();
        if (isNew(text, text)) {
            LOG.warn(text);
        }
    }

    /** Logs a failure that is caused by a defect of modeldisk, with its stack trace. */
    private void failed(String what, Throwable e) {
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
            LOG.warn("this failure was repeated {}: {}", Plural.counted(repeated, "time"), lastText);
        }
        lastReason = reason;
        lastText = text;
        lastNs = now;
        repeated = 0;
        return true;
    }
}
