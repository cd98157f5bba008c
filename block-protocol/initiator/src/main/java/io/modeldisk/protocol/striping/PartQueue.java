package io.modeldisk.protocol.striping;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongToIntFunction;

/**
 * The parts of one call: those still to be cut from its range, those in flight, and those to be sent again.
 *
 * <pre>
 *     free --- next() ---> being sent --- addInFlight() ---> in flight --- moved(), dropped() ---> free
 *                            ^   |                               |
 *                            |   | sendLater()                   | lost(), refused()
 *                     next() |   v                               v
 *                          waiting <-----------------------------+
 * </pre>
 *
 * <p>One thread takes and sends parts; the sessions' receiving threads report their ends. Thread-safe; allocates nothing after it
 * is made.
 */
final class PartQueue {
    private final NanoClock clock;
    private final PartRounds rounds;
    private final LongToIntFunction partBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock.
    private final InFlightParts inFlight;
    private final PartStack free;
    private final PartStack waiting;
    private long length;
    private long next;
    private long retryAtNs;
    private long moved;

    /**
     * An empty queue.
     *
     * @param rounds receives the end of each part
     * @param partBytes the length of the part that begins at an offset of the call's range
     */
    PartQueue(int shards, int queueDepth, NanoClock clock, PartRounds rounds, LongToIntFunction partBytes) {
        this.clock = clock;
        this.rounds = rounds;
        this.partBytes = partBytes;
        this.inFlight = new InFlightParts(shards, queueDepth);
        // No part is cut while others are to be sent again: there are at most as many as places, and the one cut before.
        this.free = new PartStack(inFlight.capacity() + 1);
        this.waiting = new PartStack(inFlight.capacity() + 1);
        for (int i = 0; i <= inFlight.capacity(); i++) {
            free.push(new Part());
        }
    }

    /** Begins a call of this length; no part of an earlier call is left. */
    void begin(long bytes) {
        lock.lock();
        try {
            length = bytes;
            next = 0;
            moved = 0;
        } finally {
            lock.unlock();
        }
    }

    /** The next part to send; null if no part can be sent now. */
    Part next() {
        lock.lock();
        try {
            if (!waiting.isEmpty()) {
                return clock.nanoTime() - retryAtNs >= 0 ? waiting.pop() : null;
            }
            if (next == length) {
                return null;
            }
            Part part = free.pop().begin(next, partBytes.applyAsInt(next));
            next += part.bytes;
            return part;
        } finally {
            lock.unlock();
        }
    }

    /** Shortens a part that is being sent; false if its rest cannot be left to the next part any more. */
    boolean shorten(Part part, int bytes) {
        if (bytes == part.bytes) {
            return true;
        }
        lock.lock();
        try {
            if (part.offset + part.bytes != next) {
                return false;
            }
            part.bytes = bytes;
            next = part.offset + bytes;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** A part that is being sent is sent after a pause. */
    void sendLater(Part part, long pauseNs) {
        lock.lock();
        try {
            putBack(part, pauseNs);
        } finally {
            lock.unlock();
        }
    }

    private void putBack(Part part, long pauseNs) {
        waiting.push(part);
        retryAtNs = clock.nanoTime() + pauseNs;
    }

    /** See {@link InFlightParts#add}. */
    boolean addInFlight(Part part, int shard, IscsiSession session, IoRequest request) {
        lock.lock();
        try {
            return inFlight.add(part, shard, session, request);
        } finally {
            lock.unlock();
        }
    }

    /** A part was not sent after all; it is being sent again. */
    void removeInFlight(int shard, IoRequest request) {
        lock.lock();
        try {
            inFlight.remove(shard, request);
        } finally {
            lock.unlock();
        }
    }

    /** The part has been moved. */
    void moved(int shard, IoRequest request) {
        lock.lock();
        try {
            moved++;
            end(inFlight.remove(shard, request), true);
            signalIfNeeded();
        } finally {
            lock.unlock();
        }
    }

    /** The part has failed and is not sent again. */
    void dropped(int shard, IoRequest request) {
        lock.lock();
        try {
            end(inFlight.remove(shard, request), false);
            signalIfNeeded();
        } finally {
            lock.unlock();
        }
    }

    /** The connection was lost before the response: the part is sent again at once. */
    void lost(int shard, IoRequest request) {
        lock.lock();
        try {
            Part part = inFlight.remove(shard, request);
            part.doubtful = true;
            putBack(part, 0);
            signalIfNeeded();
        } finally {
            lock.unlock();
        }
    }

    /** The shard has done nothing of the part and accepts it later. */
    void refused(int shard, IoRequest request, long pauseNs) {
        lock.lock();
        try {
            Part part = inFlight.remove(shard, request);
            part.doubtful = false;
            putBack(part, pauseNs);
            signalIfNeeded();
        } finally {
            lock.unlock();
        }
    }

    private void end(Part part, boolean shardHasIt) {
        rounds.ended(part, shardHasIt);
        free.push(part);
    }

    private void signalIfNeeded() {
        if (inFlight.isEmpty() || !waiting.isEmpty()) {
            changed.signalAll();
        }
    }

    /** Wakes the thread that waits. */
    void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until there is a part to send, all parts have ended, the deadline has passed, or {@code stop} is true; may return
     * early.
     *
     * @return how many parts have been moved since {@link #begin}
     */
    long await(long deadlineNs, BooleanSupplier stop) throws InterruptedException {
        lock.lock();
        try {
            boolean retries = !waiting.isEmpty();
            if (!stop.getAsBoolean() && (retries || !inFlight.isEmpty())) {
                clock.awaitUntil(changed, retries && retryAtNs - deadlineNs < 0 ? retryAtNs : deadlineNs);
            }
            return moved;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no part is in flight, for a time; answers whether the thread was interrupted meanwhile. */
    boolean awaitLanded(long timeoutNs) {
        long deadlineNs = clock.nanoTime() + timeoutNs;
        boolean interrupted = false;
        boolean inTime = true;
        lock.lock();
        try {
            while (!inFlight.isEmpty() && inTime) {
                try {
                    inTime = clock.awaitUntil(changed, deadlineNs);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            lock.unlock();
        }
        return interrupted;
    }

    /** Whether the whole range has been moved. */
    boolean isDone() {
        lock.lock();
        try {
            return next == length && isIdle();
        } finally {
            lock.unlock();
        }
    }

    /** Whether no part is in flight or to be sent again. */
    boolean isIdle() {
        lock.lock();
        try {
            return inFlight.isEmpty() && waiting.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Ends a failed call: parts that wait are not sent again. */
    void endWaiting() {
        lock.lock();
        try {
            while (!waiting.isEmpty()) {
                end(waiting.pop(), false);
            }
            rounds.failed();
        } finally {
            lock.unlock();
        }
    }

    /** How many parts can be in flight. */
    int capacity() {
        return inFlight.capacity();
    }

    /** The command that carries a part in flight, with its session and tag. */
    record Carrier(IscsiSession session, IoRequest request, int tag) {}

    /** The command in flight at a place from 0 to {@link #capacity} - 1; null if the place is free. For a failed call. */
    Carrier carrier(int index) {
        lock.lock();
        try {
            Part part = inFlight.at(index);
            return part == null ? null : new Carrier(part.session, part.request, part.tag);
        } finally {
            lock.unlock();
        }
    }
}
