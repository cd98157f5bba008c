package io.modeldisk.admin.page;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The last value that was read from a source, which can take long to answer. Each call of {@link #look} returns the result of the
 * earlier reads, and starts a read in a new thread if the next read is due and none is in progress. The next read is due after a
 * pause that grows with the time of the last read, so a shard spends only a part of its time on its status. Thread-safe.
 *
 * @param <T> the type of the value
 */
final class Latest<T> {
    private static final Logger LOG = LogManager.getLogger(Latest.class);
    /** The length of the pause after a successful read, as a multiple of the time of that read. */
    private static final int PAUSE = 5;
    private static final long MAX_PAUSE_NS = TimeUnit.SECONDS.toNanos(10);
    /** If {@link #look} is not called for this time, the value is discarded, because it might be out of date. */
    private static final Duration FORGOTTEN = Duration.ofSeconds(10);

    private final String name;
    private final NanoClock clock;
    private final Callable<T> source;
    private Reading<T> last = new Reading<>(null, null, 0);
    private boolean reading;
    private boolean closed;
    private long lookedNs;
    private long nextNs;

    /**
     * The result of the reads so far.
     *
     * @param value the last value; null if no read has succeeded
     * @param failure the reason why the last read failed; null if it succeeded, or if there was no read
     * @param sinceNs the time of the last value, or of the first failure if there was no value
     */
    record Reading<T>(T value, String failure, long sinceNs) {
        /** Returns whether a read has ended. */
        boolean isKnown() {
            return value != null || failure != null;
        }
    }

    /** Creates an object without a value. At most one thread calls {@code source} at the same time. */
    Latest(String name, NanoClock clock, Callable<T> source) {
        this.name = name;
        this.clock = clock;
        this.source = source;
        lookedNs = clock.nanoTime();
        nextNs = lookedNs;
    }

    /** Returns the result of the reads so far, and starts the next read if it is due. */
    synchronized Reading<T> look() {
        long nowNs = clock.nanoTime();
        if (nowNs - lookedNs > FORGOTTEN.toNanos()) {
            last = new Reading<>(null, null, 0);
        }
        lookedNs = nowNs;
        if (!reading && !closed && nowNs - nextNs >= 0) {
            reading = true;
            ThreadName.PAGE.builder(name.replace(' ', '-')).start(this::read);
        }
        return last;
    }

    /** Returns the result of the reads so far. */
    synchronized Reading<T> last() {
        return last;
    }

    private void read() {
        long startNs = clock.nanoTime();
        T value = null;
        String failure = null;
        try {
            value = source.call();
        } catch (IOException e) {
            failure = e.getMessage();
        } catch (Exception e) {
            failure = e.toString();
            if (!failure.equals(last().failure())) {
                LOG.error("the admin page cannot read {}", name, e);
            }
        } finally {
            end(value, failure == null && value == null ? "the read has failed; the log has the reason" : failure,
                startNs);
        }
    }

    private synchronized void end(T value, String failure, long startNs) {
        long endNs = clock.nanoTime();
        last = failure == null
            ? new Reading<>(value, null, endNs)
            : new Reading<>(last.value(), failure, last.isKnown() ? last.sinceNs() : endNs);
        nextNs = endNs + Math.min((failure == null ? PAUSE : 1) * (endNs - startNs), MAX_PAUSE_NS);
        reading = false;
    }

    /** Prevents further reads. A read in progress ends when its source returns. */
    synchronized void close() {
        closed = true;
    }
}
