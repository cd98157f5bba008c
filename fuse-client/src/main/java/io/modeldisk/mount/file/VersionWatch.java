package io.modeldisk.mount.file;

import io.modeldisk.mount.fuse.PollWakeup;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Tracks the version of the model, and wakes the processes that wait for another version. While processes wait, and for 10 s
 * after a poll(2) that does not wait, a thread sends the shards a command that completes when the version changes. Thread-safe.
 */
public final class VersionWatch implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(VersionWatch.class);
    /**
     * The time for which the thread continues after a call of poll(2) that does not wait, because another such call is likely.
     */
    private static final long INTEREST_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long FIRST_PAUSE_MS = 10;
    private static final long LONGEST_PAUSE_MS = 500;

    private final RemoteModel model;
    private final NanoClock clock;
    private final Cancellation closing = new Cancellation();

    // All fields below are guarded by this.
    private final List<Wait> waits = new ArrayList<>();
    /** The latest known version; null if no version was read yet. */
    private Known latest;
    /** True if the last request failed for a lasting reason, so another request would fail too. */
    private boolean broken;
    private boolean running;
    private boolean closed;
    private long interestEndNs;

    /**
     * A version of the model.
     *
     * @param version the lowest number of updates among all blocks
     * @param history a number that identifies the update history of the shards; it changes when shards have lost updates. 0 if
     *     the history is unknown
     */
    public record Known(long version, long history) {}

    /** A process that waits for a version other than {@code seen}. */
    record Wait(Known seen, PollWakeup wakeup) {}

    /** Creates a watch of this model. */
    public VersionWatch(RemoteModel model, NanoClock clock) {
        this.model = model;
        this.clock = clock;
    }

    /**
     * Requests the version from the shards. Tries again for a limited time if a shard cannot be reached.
     *
     * @throws IOException if a shard does not respond, or was restarted with another model
     */
    Known ask(Cancellation cancellation) throws IOException {
        Known before = latest();
        try {
            return publish(before, model.awaitVersion(AwaitCommand.NONE, cancellation));
        } catch (CancelledException e) {
            throw e;
        } catch (IOException e) {
            failed(e);
            throw e;
        }
    }

    /** Returns the latest known version; null if no version was read yet. */
    synchronized Known latest() {
        return latest;
    }

    /** Returns whether the last request to the shards failed for a lasting reason, so another request would fail too. */
    synchronized boolean isBroken() {
        return broken;
    }

    /** Returns whether the latest known version differs from {@code seen}. Starts the thread that watches the shards. */
    synchronized boolean differs(Known seen) {
        interestEndNs = clock.nanoTime() + INTEREST_NS;
        start();
        return isDue(seen);
    }

    /**
     * Wakes a process when the version differs from {@code seen}, or when a request for the version fails for a lasting reason.
     *
     * @return null if the process does not have to wait; otherwise the wait, for {@link #cancel}
     */
    synchronized Wait await(Known seen, PollWakeup wakeup) {
        if (isDue(seen) || closed) {
            wakeup.discard();
            return null;
        }
        Wait wait = new Wait(seen, wakeup);
        waits.add(wait);
        start();
        return wait;
    }

    /** Ends a wait. Does nothing if the wait has already ended. */
    synchronized void cancel(Wait wait) {
        if (waits.removeIf(each -> each == wait)) {
            wait.wakeup().discard();
        }
    }

    private boolean isDue(Known seen) {
        return broken || latest != null && !latest.equals(seen);
    }

    private void start() {
        if (!running && !closed) {
            ThreadName.VERSION.builder().start(this::run);
            running = true;
        }
    }

    private synchronized boolean goesOn() {
        running = !closed && (!waits.isEmpty() || clock.nanoTime() - interestEndNs < 0);
        return running;
    }

    private void run() {
        try {
            askWhileNeeded();
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                running = false;
            }
            LOG.error("the thread that watches the version has failed; the next call of poll(2) starts another one", e);
        }
    }

    private void askWhileNeeded() {
        long pauseMs = FIRST_PAUSE_MS;
        while (goesOn()) {
            Known before = latest();
            try {
                publish(before, model.awaitVersion(before == null ? AwaitCommand.NONE : before.version(), closing));
                pauseMs = FIRST_PAUSE_MS;
            } catch (IOException | RuntimeException | Error e) {
                // Errors are caught too, because this thread must continue: without it, the processes would wait forever.
                failed(e);
                pauseMs = pause(pauseMs);
            }
        }
    }

    /** Sleeps after a failure. Returns the next pause, which is longer. */
    private long pause(long pauseMs) {
        try {
            clock.sleep(pauseMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            // No code interrupts this thread. An interrupt would only cause the next request to be sent earlier.
            LOG.debug("the thread that watches the version was interrupted while it slept", e);
        }
        return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }

    /**
     * Stores a version that the shards have returned, and wakes the processes that wait for it.
     *
     * <p>If no other request has completed since this request began, the result is newer than the known version, even if its
     * number is lower. The reason is that a shard reports an update before the record of the update is durable. If the shard is
     * then killed, it loses the update, but its history number stays the same.
     *
     * <p>If another request has completed meanwhile, the order of the two results is unknown. Within one history, the higher
     * version is newer. If the history has changed, a result of the old history is outdated.
     *
     * @param before the version that was known when the request began
     * @return the newest version
     */
    private Known publish(Known before, ShardCounters counters) {
        Known now = new Known(counters.minVersion(), counters.history());
        List<Wait> due = new ArrayList<>();
        Known newest;
        synchronized (this) {
            broken = false;
            if (isNewer(before, now)) {
                logLoss(latest, now);
                latest = now;
            }
            newest = latest;
            waits.removeIf(wait -> !wait.seen().equals(newest) && due.add(wait));
        }
        due.forEach(wait -> wait.wakeup().wake());
        return newest;
    }

    private boolean isNewer(Known before, Known now) {
        // The objects are compared by identity, because the version can have changed and returned to the same value meanwhile.
        if (before == latest) {
            return !now.equals(latest);
        }
        if (now.history() == 0) {
            return true;
        }
        if (now.history() == latest.history()) {
            return now.version() > latest.version();
        }
        return before == null || before.history() != now.history();
    }

    private static void logLoss(Known before, Known now) {
        if (before == null || before.history() == now.history() && before.version() <= now.version()) {
            return;
        }
        LOG.warn(
            "a shard was restarted and has lost updates: the model was at version {} and is at version {} now; read its"
                + " weights again",
            before.version(), now.version());
    }

    private void failed(Throwable failure) {
        if (!isLasting(failure)) {
            LOG.debug("the version of the model is unknown: {}", failure.getMessage());
            return;
        }
        List<Wait> due;
        synchronized (this) {
            if (!broken && !closed) {
                LOG.error("the version of the model is unknown: {}", failure.getMessage());
            }
            broken = true;
            due = List.copyOf(waits);
            waits.clear();
        }
        due.forEach(wait -> wait.wakeup().wake());
    }

    private static boolean isLasting(Throwable failure) {
        return !(failure instanceof CancelledException) && !(failure instanceof ShardException shard
            && (shard.kind() == ShardException.Kind.PATH_LOST || shard.kind() == ShardException.Kind.BUSY));
    }

    /** Ends all waits and stops the thread. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            waits.forEach(wait -> wait.wakeup().discard());
            waits.clear();
        }
        closing.cancel();
    }
}
