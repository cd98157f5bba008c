package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** The transfers of a model, one for each concurrent call. A further call waits until a transfer is free. Thread-safe. */
final class TransferPool {
    private final int size;
    private final long waitNs;
    private final NanoClock clock;
    private final Supplier<StripedTransfer> maker;
    private final ShardId shard;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition returned = lock.newCondition();
    private final Cancellation.Waiter waiter = Cancellation.signalling(lock, returned);
    // Guarded by {@code lock}.
    private final ArrayDeque<StripedTransfer> free;
    // Guarded by {@code lock}.
    private final StripedTransfer[] all;

    /**
     * Creates all transfers.
     *
     * @param waitNs the time that a call waits for a free transfer
     * @param shard the shard that error messages name
     */
    TransferPool(int size, long waitNs, NanoClock clock, ShardId shard, Supplier<StripedTransfer> maker) {
        this.size = size;
        this.waitNs = waitNs;
        this.clock = clock;
        this.shard = shard;
        this.maker = maker;
        this.free = new ArrayDeque<>(size);
        this.all = new StripedTransfer[size];
        Arrays.setAll(all, i -> maker.get());
        free.addAll(List.of(all));
    }

    /** Acquires a transfer if one is free; null otherwise. The caller releases it with {@link #giveBack}. */
    StripedTransfer poll() {
        lock.lock();
        try {
            return free.poll();
        } finally {
            lock.unlock();
        }
    }

    /** Acquires a transfer, and waits until one is free. The caller releases it with {@link #giveBack}. */
    StripedTransfer take(Cancellation cancellation) throws IOException {
        long deadlineNs = clock.nanoTime() + waitNs;
        cancellation.register(waiter);
        lock.lock();
        try {
            boolean inTime = true;
            while (free.isEmpty()) {
                cancellation.check();
                if (!inTime) {
                    throw new ShardException(ShardException.Kind.BUSY, shard, shard
                        + ": the call could not start within " + TimeUnit.NANOSECONDS.toSeconds(waitNs) + " s, because"
                        + " the maximum number of calls (" + size + ") was in progress; `modeldisk status` names the"
                        + " learners for whose pushes these calls may wait");
                }
                inTime = clock.awaitUntil(returned, deadlineNs);
            }
            return free.pop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the thread was interrupted while it waited for another call to return");
        } finally {
            lock.unlock();
            cancellation.unregister(waiter);
        }
    }

    /** Releases a transfer. The pool replaces the transfer if one of its commands may still be in flight. */
    void giveBack(StripedTransfer used) {
        StripedTransfer next = used.isIdle() ? used : maker.get();
        lock.lock();
        try {
            if (next != used) {
                all[Arrays.asList(all).indexOf(used)] = next;
            }
            free.push(next);
            returned.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the detached calls that have waited for too long. */
    void checkDeadlines() {
        StripedTransfer[] now;
        lock.lock();
        try {
            now = all.clone();
        } finally {
            lock.unlock();
        }
        for (StripedTransfer each : now) {
            each.checkDeadline();
        }
    }
}
