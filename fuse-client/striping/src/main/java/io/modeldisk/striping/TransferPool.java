package io.modeldisk.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** The transfers of a model, one for each concurrent call. A further call waits until a transfer is free. Thread-safe. */
final class TransferPool {
    private static final Logger LOG = LogManager.getLogger(TransferPool.class);
    private static final long MAX_WATCH_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int WATCHES_PER_TIMEOUT = 8;

    private final int size;
    private final long waitNs;
    private final NanoClock clock;
    private final Function<Consumer<StripedTransfer>, StripedTransfer> maker;
    private final ShardId shard;
    private final ScopedLock lock = new ScopedLock();
    private final Condition returned = lock.newCondition();
    private final Cancellation.Waiter waiter = Cancellation.signalling(lock, returned);
    // Guarded by {@code lock}.
    private final ArrayDeque<StripedTransfer> free;
    // Guarded by {@code lock}.
    private final StripedTransfer[] all;
    private final AtomicReference<Thread> watchdog = new AtomicReference<>();
    private volatile boolean closed;

    /**
     * Creates all transfers.
     *
     * @param waitNs the time that a call waits for a free transfer
     * @param shard the shard that error messages name
     * @param maker creates a transfer; its argument is called with the transfer at the end of a detached call
     */
    TransferPool(int size, long waitNs, NanoClock clock, ShardId shard,
        Function<Consumer<StripedTransfer>, StripedTransfer> maker) {
        this.size = size;
        this.waitNs = waitNs;
        this.clock = clock;
        this.shard = shard;
        this.maker = maker;
        this.free = new ArrayDeque<>(size);
        this.all = new StripedTransfer[size];
        Arrays.setAll(all, i -> maker.apply(this::giveBack));
        free.addAll(List.of(all));
    }

    /** Acquires a transfer; returns null if none is free. The caller releases the transfer with {@link #giveBack}. */
    StripedTransfer poll() {
        try (ScopedLock.Held _ = lock.hold()) {
            return free.poll();
        }
    }

    /** Acquires a transfer. Waits if none is free. The caller releases the transfer with {@link #giveBack}. */
    StripedTransfer take(Cancellation cancellation) throws IOException {
        long deadlineNs = clock.nanoTime() + waitNs;
        try (Cancellation.Registration _ = cancellation.registered(waiter); ScopedLock.Held _ = lock.hold()) {
            boolean inTime = true;
            while (free.isEmpty()) {
                cancellation.check();
                if (!inTime) {
                    throw new ShardException(ShardException.Kind.BUSY, shard, shard
                        + ": the call could not start within " + TimeUnit.NANOSECONDS.toSeconds(waitNs) + " s, because"
                        + " the maximum number of calls (" + size + ") was in progress; `modeldisk status` names the"
                        + " learners whose pushes these calls might wait for");
                }
                inTime = clock.awaitUntil(returned, deadlineNs);
            }
            return free.pop();
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for another call to return");
        }
    }

    /** Releases a transfer. The pool replaces the transfer if one of its commands might still be in flight. */
    void giveBack(StripedTransfer used) {
        StripedTransfer next = used.isIdle() ? used : maker.apply(this::giveBack);
        try (ScopedLock.Held _ = lock.hold()) {
            if (next != used) {
                all[Arrays.asList(all).indexOf(used)] = next;
            }
            free.push(next);
            returned.signal();
        }
    }

    /** Starts the thread that ends detached calls after their deadline. Does nothing if the thread is already running. */
    void watch() {
        if (watchdog.get() == null) {
            Thread thread = ThreadName.CALL_WATCHDOG.builder().unstarted(this::watchCalls);
            if (watchdog.compareAndSet(null, thread)) {
                thread.start();
            }
        }
    }

    private void watchCalls() {
        long periodNs = Math.min(MAX_WATCH_PERIOD_NS, waitNs / WATCHES_PER_TIMEOUT + 1);
        try {
            while (!closed) {
                clock.sleep(periodNs, TimeUnit.NANOSECONDS);
                checkDeadlines();
            }
        } catch (InterruptedException e) {
            LOG.debug("the watchdog of the calls ends, because the model is closed", e);
        } catch (RuntimeException | Error e) {
            LOG.error("the watchdog of the calls failed; a later call starts another watchdog", e);
            watchdog.set(null);
        }
    }

    private void checkDeadlines() {
        StripedTransfer[] now;
        try (ScopedLock.Held _ = lock.hold()) {
            now = all.clone();
        }
        for (StripedTransfer each : now) {
            each.checkDeadline();
        }
    }

    /** Stops the thread that watches the calls. */
    void close() {
        closed = true;
        Thread watching = watchdog.get();
        if (watching != null) {
            watching.interrupt();
        }
    }
}
