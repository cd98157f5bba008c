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
 * The operations that a device has not done yet, in a ring. An operation with ticket t has the place {@code t % capacity}, also
 * in the memory for data. A place is used again after its operation was applied. Thread-safe. Allocates nothing after
 * construction.
 */
final class OperationQueue {
    /** The longest time that a device may take for its work. */
    static final long DEVICE_TIMEOUT_MS = 10_000;

    /** The longest wait without any progress. It is longer, because the thread of the device notices a slow device itself. */
    private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(2 * DEVICE_TIMEOUT_MS);

    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(1);

    /** The source of an operation whose data, if it has any, was copied to its place. */
    static final long COPIED = -1;

    /** The kinds of operations. */
    enum Kind {
        /** A gradient is applied to weights. */
        FOLD,
        /** A gradient is added to a sum. */
        ACCUMULATE,
        /** A sum is applied to weights. */
        FOLD_SUM,
        /** Weights are copied to the host. */
        MIRROR,
        /** The host replaces weights. */
        STORE_WEIGHTS,
        /** The host replaces an array of state. */
        STORE_STATE,
        /** The host replaces a sum. */
        STORE_SUM,
        /** State is copied to the host. */
        LOAD_STATE,
        /** A sum is copied to the host. */
        LOAD_SUM,
        /** Nothing: the data of the operation could not be copied. */
        NOTHING
    }

    /** An operation. Its object is used again for later operations in the same place. */
    static final class Operation {
        Kind kind;
        int block;
        int offset;
        /** The type of the data. */
        GradientType type;
        /** The length of the weights, state or sum that the operation changes or copies. */
        int lengthBytes;
        float scale;
        /** The round of a fold, 1 for the first gradient of a sum, the target of a mirror, or the number of an array of state. */
        long value;
        /** The offset of the gradient in the memory for pushes; {@link #COPIED} if its data is in the place of the operation. */
        long source;
        private final int place;
        private boolean filled;

        private Operation(int place) {
            this.place = place;
        }

        /** Returns the place, which is also that of the data. */
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

    /** Sets what is called after progress, and what is called before a failure is visible. */
    void listen(Runnable onProgress, Consumer<DeviceException> onLost) {
        listener = onProgress;
        lost = onLost;
    }

    /** Takes the next ticket. Waits until its place is free. The caller then calls {@link #fill}. */
    long reserve() {
        while (true) {
            await(newest + 1 - operations.length, false);
            try (Held _ = lock.hold()) {
                check();
                // Another thread may have taken the place.
                if (newest + 1 - applied <= operations.length) {
                    return ++newest;
                }
            }
        }
    }

    /**
     * Describes the operation with a reserved ticket, so the device can begin it.
     *
     * @param source where the gradient begins in the memory for pushes, or {@link #COPIED}
     */
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

    /** Returns the last ticket up to which all operations after {@code begun} are described. */
    long lastFilled(long begun) {
        try (Held _ = lock.hold()) {
            long last = begun;
            while (last < newest && operation(last + 1).filled) {
                last++;
            }
            return last;
        }
    }

    /** Notes that the device has begun an operation, whose place is free after it was applied. */
    void begin(long ticket) {
        operation(ticket).filled = false;
    }

    /** Notes up to which tickets all operations are applied and done. */
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
     * Fails every later and waiting call. The first reason stays. The owner of the shard is notified first, so
     * that it can end the process before a learner gets an error.
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
     * Puts the thread of the device to sleep until there is a new operation, or until the time is over.
     *
     * @param begun the last ticket that the device has begun
     * @param mayBegin whether the device can begin another operation now
     * @param pauseNs the time; 0 for no limit
     * @return false if there is no operation, and the queue is closed
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
     * Waits until all operations up to a ticket are applied, or with {@code wholly} done, or until the device has failed. An
     * interrupt does not end the wait, because an operation that has begun cannot be taken back.
     */
    private void await(long ticket, boolean wholly) {
        long sinceNs = clock.nanoTime();
        boolean interrupted = false;
        boolean overdue = false;
        while (failure == null && (wholly ? done : applied) < ticket) {
            interrupted |= awaitProgress(ticket, wholly);
            long nowNs = clock.nanoTime();
            boolean late = nowNs - sinceNs > WAIT_NS && nowNs - advancedNs > WAIT_NS;
            // After a stop of the process, the thread of the device needs a moment to look at the device.
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

    /** Waits for progress, for a limited time. Returns whether the thread was interrupted. */
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

    /** Returns the failure of the device; null if it has not failed. */
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

    /** Makes {@link #awaitWork} return false when all operations have begun. */
    void close() {
        try (Held _ = lock.hold()) {
            closed = true;
            work.signal();
        }
    }

    /** Notes that the thread of the device does no more work. */
    void end() {
        try (Held _ = lock.hold()) {
            ended = true;
            progress.signalAll();
        }
    }

    /** Waits for {@link #end()}, for a limited time. Later calls of other methods fail. Returns whether the thread has ended. */
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
