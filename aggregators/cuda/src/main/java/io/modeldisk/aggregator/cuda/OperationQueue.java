package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;

/**
 * A ring of the operations that a device has not completed yet. The operation with ticket t has place {@code t % capacity}, both
 * in this ring and in the memory for data. A place is reused after its operation was applied. Thread-safe. Allocates nothing
 * after construction.
 */
final class OperationQueue {
    /** The maximum time in which the device must make progress. */
    static final long DEVICE_TIMEOUT_MS = 10_000;

    /** The longest wait without progress: twice the device's time-out, so the device's thread reports a slow device first. */
    private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(2 * DEVICE_TIMEOUT_MS);

    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(1);

    /** The {@link Operation#source} of an operation that has no data, or whose data was copied to the operation's place. */
    static final long COPIED = -1;

    /** The kinds of operations. */
    enum Kind {
        /** Applies a gradient to weights. */
        FOLD,
        /** Adds a gradient to a sum. */
        ACCUMULATE,
        /** Applies a sum to weights. */
        FOLD_SUM,
        /** Copies weights to the host. */
        MIRROR,
        /** Replaces weights with data from the host. */
        STORE_WEIGHTS,
        /** Replaces a state array with data from the host. */
        STORE_STATE,
        /** Replaces a sum with data from the host. */
        STORE_SUM,
        /** Copies state to the host. */
        LOAD_STATE,
        /** Copies a sum to the host. */
        LOAD_SUM,
        /** Does nothing, because the data of the operation could not be copied. */
        NOTHING
    }

    /** An operation. The object is reused for later operations in the same place. */
    static final class Operation {
        Kind kind;
        int block;
        int offset;
        /** The type of the data. */
        GradientType type;
        /** The length of the weights, state or sum that the operation changes or copies. */
        int lengthBytes;
        float scale;
        /** Depends on the kind: a fold's round, 1 for a sum's first gradient, a mirror's offset, or a state array's index. */
        long value;
        /** The offset of the gradient in the memory for pushes, or {@link #COPIED}. */
        long source;
        private final int place;
        private boolean filled;

        private Operation(int place) {
            this.place = place;
        }

        /** Returns the place of the operation in the ring, which is also the place of its data. */
        int place() {
            return place;
        }
    }

    private final Operation[] operations;
    private final int mask;
    private final NanoClock clock;
    private final ScopedLock lock = new ScopedLock();
    private final Condition work = lock.newCondition();
    private final Condition progress = lock.newCondition();
    // Written under the lock.
    private volatile long newest;
    private volatile long applied;
    private volatile long done;
    private volatile DeviceException failure;
    private volatile long advancedNs;
    private final AtomicBoolean failing = new AtomicBoolean();
    private volatile Runnable listener = () -> {};
    private volatile Consumer<DeviceException> lost = e -> {};
    private boolean asleep;
    private boolean closed;
    private boolean ended;

    /** Creates an empty queue. {@code capacity} is a power of two. */
    OperationQueue(int capacity, NanoClock clock) {
        this.operations = new Operation[capacity];
        Arrays.setAll(operations, Operation::new);
        this.mask = capacity - 1;
        this.clock = clock;
    }

    /** Returns the operation with a reserved ticket. */
    Operation operation(long ticket) {
        return operations[(int) ticket & mask];
    }

    /** Sets a listener that is called after progress, and a listener that is called before a failure becomes visible. */
    void listen(Runnable onProgress, Consumer<DeviceException> onLost) {
        listener = onProgress;
        lost = onLost;
    }

    /** Takes the next ticket, after its place has become free. The caller must then call {@link #fill}. */
    long reserve() {
        while (true) {
            await(newest + 1 - operations.length, false);
            try (Held _ = lock.hold()) {
                check();
                // Another thread might have taken the free place first.
                if (newest + 1 - applied <= operations.length) {
                    return ++newest;
                }
            }
        }
    }

    /** Fills in the operation with a reserved ticket. The device can then begin the operation. */
    void fill(
        long ticket, Kind kind, int block, long offset, GradientType type, int lengthBytes, float scale, long value,
        long source) {
        Operation operation = operation(ticket);
        try (Held _ = lock.hold()) {
            operation.kind = kind;
            operation.block = block;
            operation.offset = (int) offset;
            operation.lengthBytes = lengthBytes;
            operation.scale = scale;
            operation.value = value;
            operation.source = source;
            operation.type = type;
            operation.filled = true;
            if (asleep) {
                work.signal();
            }
        }
    }

    /** Returns the highest ticket such that all operations after ticket {@code begun} and up to this ticket are filled. */
    long lastFilled(long begun) {
        try (Held _ = lock.hold()) {
            long last = begun;
            while (last < newest && operation(last + 1).filled) {
                last++;
            }
            return last;
        }
    }

    /** Records that the device has begun an operation. */
    void begin(long ticket) {
        operation(ticket).filled = false;
    }

    /** Records the tickets up to which all operations are applied, and up to which they are done. */
    void advance(long nowApplied, long nowDone) {
        boolean changed = nowApplied != applied;
        try (Held _ = lock.hold()) {
            applied = nowApplied;
            done = nowDone;
            advancedNs = clock.nanoTime();
            progress.signalAll();
        }
        if (changed) {
            listener.run();
        }
    }

    /**
     * Makes all waiting and later calls fail. Only the first reason is kept. The shard is notified first, so it can end the
     * process before a learner gets an error.
     */
    void fail(DeviceException reason) {
        if (!failing.compareAndSet(false, true)) {
            return;
        }
        try {
            lost.accept(reason);
        } finally {
            end(reason);
            listener.run();
        }
    }

    private void end(DeviceException reason) {
        try (Held _ = lock.hold()) {
            failure = failure == null ? reason : failure;
            progress.signalAll();
        }
    }

    /**
     * Makes the device's thread sleep until it can begin a new operation, or until the time has elapsed.
     *
     * @param begun the last ticket whose operation the device has begun
     * @param mayBegin whether the device can begin another operation now
     * @param pauseNs the time; with 0, the device is idle, and the thread sleeps up to 1 s
     * @return false if the queue is closed and the device has completed all operations
     */
    boolean awaitWork(long begun, boolean mayBegin, long pauseNs) throws InterruptedException {
        lock.lock();
        try {
            long wakeNs = clock.nanoTime() + (pauseNs == 0 ? IDLE_NS : pauseNs);
            asleep = true;
            while (!(mayBegin && begun < newest && operation(begun + 1).filled) && (pauseNs > 0 || !closed)) {
                if (!clock.awaitUntil(work, wakeNs)) {
                    return true;
                }
            }
            return pauseNs > 0 || begun < newest || !closed;
        } finally {
            asleep = false;
            lock.unlock();
        }
    }

    /** Waits until all operations up to a ticket are done. */
    void awaitDone(long ticket) {
        await(ticket, true);
    }

    /**
     * Waits until all operations up to a ticket are applied (with {@code wholly}, until they are done) or the device fails. An
     * interrupt does not end the wait, because an operation cannot be cancelled after it has begun.
     */
    private void await(long ticket, boolean wholly) {
        long sinceNs = clock.nanoTime();
        boolean interrupted = false;
        boolean overdue = false;
        while (failure == null && (wholly ? done : applied) < ticket) {
            interrupted |= awaitProgress(ticket, wholly);
            long nowNs = clock.nanoTime();
            boolean late = nowNs - sinceNs > WAIT_NS && nowNs - advancedNs > WAIT_NS;
            // If the whole process was stopped, the device's thread first needs a moment to poll the device. Only a second late
            // check is a failure.
            if (late && overdue) {
                fail(new DeviceException("the thread that submits work to the device does not respond", null));
            }
            overdue = late;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        check();
    }

    /** Waits for progress, at most for 1 s. Returns true if the thread was interrupted. */
    private boolean awaitProgress(long ticket, boolean wholly) {
        lock.lock();
        try {
            if (failure == null && (wholly ? done : applied) < ticket) {
                clock.awaitUntil(progress, clock.nanoTime() + IDLE_NS);
            }
            return false;
        } catch (InterruptedException e) {
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the failure of the device, or null if the device has not failed. */
    DeviceException failure() {
        return failure;
    }

    /** Throws an exception if the device has failed. */
    void check() {
        DeviceException reason = failure;
        if (reason != null) {
            throw new DeviceException(reason.getMessage(), reason);
        }
    }

    long newest() {
        return newest;
    }

    long applied() {
        return applied;
    }

    /** Closes the queue: {@link #awaitWork} returns false after all operations are complete. */
    void close() {
        try (Held _ = lock.hold()) {
            closed = true;
            work.signal();
        }
    }

    /** Records that the device's thread has stopped working. */
    void end() {
        try (Held _ = lock.hold()) {
            ended = true;
            progress.signalAll();
        }
    }

    /** Waits for {@link #end()} for a limited time. Returns true if the thread has ended. Afterwards, all other methods fail. */
    boolean awaitEnd() {
        boolean interrupted = false;
        lock.lock();
        try {
            long endNs = clock.nanoTime() + WAIT_NS;
            while (!ended && clock.nanoTime() - endNs < 0) {
                try {
                    clock.awaitUntil(progress, clock.nanoTime() + IDLE_NS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return ended;
        } finally {
            lock.unlock();
            end(new DeviceException("the device is closed", null));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
