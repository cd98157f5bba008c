package io.modeldisk.striping;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import java.util.function.LongToIntFunction;

/**
 * The parts of one call's range, and their states. One command moves one part.
 *
 * <pre>
 *     free --- next() ---> being sent --- addInFlight() ---> in flight --- ended() ---> free
 *                            ^   |                               |
 *                            |   | sendLater()                   | sendAgain()
 *                     next() |   v                               v
 *                          waiting <-----------------------------+
 * </pre>
 *
 * <p>One thread gets parts and sends them. The receiving threads of the sessions report the results. When all parts are in
 * flight, the thread can {@link #detach} the call; see {@link CallState}. Thread-safe; allocates nothing after construction.
 */
final class PartQueue {
    private final int queueDepth;
    private final NanoClock clock;
    private final PartRounds rounds;
    private final LongToIntFunction partBytes;
    private final ScopedLock lock = new ScopedLock();
    private final Condition changed = lock.newCondition();

    // Guarded by {@code lock}.
    /** The parts in flight, by shard and by slot of the session. */
    private final Part[] inFlight;
    private int inFlightCount;
    private final ArrayDeque<Part> free;
    private final ArrayDeque<Part> waiting;
    private long length;
    private long next;
    private long retryAtNs;
    private long moved;
    private CallState state = CallState.ENDED;

    /**
     * Creates an empty queue.
     *
     * @param rounds the object that records the result of each part
     * @param partBytes the function that returns the length of the part at an offset of the call's range
     */
    PartQueue(int shards, int queueDepth, NanoClock clock, PartRounds rounds, LongToIntFunction partBytes) {
        this.clock = clock;
        this.rounds = rounds;
        this.partBytes = partBytes;
        this.queueDepth = queueDepth;
        this.inFlight = new Part[shards * queueDepth];
        // A new part begins only while no part waits to be sent again, so there are at most as many parts as {@code inFlight} can
        // hold, and one that is being sent.
        this.free = new ArrayDeque<>(inFlight.length + 1);
        this.waiting = new ArrayDeque<>(inFlight.length + 1);
        for (int i = 0; i <= inFlight.length; i++) {
            free.push(new Part());
        }
    }

    /** Begins a call with a range of {@code bytes} bytes. All parts of the previous call must be free. */
    void begin(long bytes) {
        try (ScopedLock.Held _ = lock.hold()) {
            length = bytes;
            next = 0;
            moved = 0;
            state = state.to(CallState.ATTACHED);
        }
    }

    /** Ends the call. While a command might still be in flight, no other call is allowed to begin. */
    void end() {
        try (ScopedLock.Held _ = lock.hold()) {
            state = state.to(CallState.ENDED);
        }
    }

    /** Returns the next part to send; null if no part can be sent now. */
    Part next() {
        try (ScopedLock.Held _ = lock.hold()) {
            if (!waiting.isEmpty()) {
                return clock.nanoTime() - retryAtNs >= 0 ? waiting.pop() : null;
            }
            if (next == length) {
                return null;
            }
            Part part = free.pop().begin(next, partBytes.applyAsInt(next));
            next += part.bytes;
            return part;
        }
    }

    /**
     * Shortens a part that is being sent, so the next part begins at its new end. Returns false if the next part already exists.
     */
    boolean shorten(Part part, int bytes) {
        if (bytes == part.bytes) {
            return true;
        }
        try (ScopedLock.Held _ = lock.hold()) {
            if (part.offset + part.bytes != next) {
                return false;
            }
            part.bytes = bytes;
            next = part.offset + bytes;
            return true;
        }
    }

    /** Records that a part could not be sent. {@link #next} returns the part again after a pause. */
    void sendLater(Part part, long pauseNs) {
        try (ScopedLock.Held _ = lock.hold()) {
            putBack(part, pauseNs);
        }
    }

    private void putBack(Part part, long pauseNs) {
        waiting.push(part);
        retryAtNs = clock.nanoTime() + pauseNs;
    }

    /**
     * Adds a part to the parts in flight. Returns false if a command of an earlier session still occupies the slot, because its
     * completion handler was not called yet.
     */
    boolean addInFlight(Part part, int shard, IscsiSession session, IoRequest request) {
        try (ScopedLock.Held _ = lock.hold()) {
            int index = shard * queueDepth + request.slot();
            if (inFlight[index] != null) {
                return false;
            }
            inFlight[index] = part;
            part.session = session;
            part.request = request;
            part.tag = request.initiatorTaskTag();
            inFlightCount++;
            return true;
        }
    }

    /** Removes and returns the part that a request carries. The caller holds {@code lock}. */
    private Part remove(int shard, IoRequest request) {
        int index = shard * queueDepth + request.slot();
        Part part = inFlight[index];
        inFlight[index] = null;
        part.session = null;
        part.request = null;
        inFlightCount--;
        return part;
    }

    /** Removes a part from the parts in flight because its command was not sent. */
    void removeInFlight(int shard, IoRequest request) {
        try (ScopedLock.Held _ = lock.hold()) {
            remove(shard, request);
        }
    }

    /**
     * Detaches the call from the calling thread, if all parts are in flight.
     *
     * @param stop returns whether the call must stop
     * @return false if the call still needs a thread
     */
    boolean detach(BooleanSupplier stop) {
        try (ScopedLock.Held _ = lock.hold()) {
            boolean detaches = next == length && !needsThread() && !stop.getAsBoolean();
            if (detaches) {
                state = state.to(CallState.DETACHED);
            }
            return detaches;
        }
    }

    /**
     * Records the success of a part's command, or its final failure. Returns true if the call was detached, and the calling
     * thread must continue it.
     */
    boolean ended(int shard, IoRequest request, boolean succeeded) {
        try (ScopedLock.Held _ = lock.hold()) {
            moved += succeeded ? 1 : 0;
            Part part = remove(shard, request);
            // The command might have been executed before it was aborted, or before the connection was lost.
            part.doubtful |= !succeeded;
            end(part, succeeded);
            return signalIfNeeded();
        }
    }

    /**
     * Records that a part must be sent again, after a pause. Returns true if the call was detached, and the calling thread must
     * continue it.
     *
     * @param doubtful true if the connection was lost before the response; false if the shard has not executed the command
     */
    boolean sendAgain(int shard, IoRequest request, boolean doubtful, long pauseNs) {
        try (ScopedLock.Held _ = lock.hold()) {
            Part part = remove(shard, request);
            // Even if the shard has not executed this command, it might have executed an earlier command for the part, whose
            // response was lost with the connection.
            part.doubtful |= doubtful;
            putBack(part, pauseNs);
            return signalIfNeeded();
        }
    }

    private void end(Part part, boolean shardHasIt) {
        rounds.ended(part, shardHasIt);
        free.push(part);
    }

    private boolean needsThread() {
        return inFlightCount == 0 || !waiting.isEmpty();
    }

    private boolean signalIfNeeded() {
        return needsThread() && signalOrAttach();
    }

    private boolean signalOrAttach() {
        changed.signalAll();
        boolean detached = state == CallState.DETACHED;
        if (detached) {
            state = state.to(CallState.ATTACHED);
        }
        return detached;
    }

    /** Wakes the thread that waits in {@link #await}. Returns true if the call was detached: the caller must continue it. */
    boolean wake() {
        try (ScopedLock.Held _ = lock.hold()) {
            return signalOrAttach();
        }
    }

    /**
     * Waits until a part can be sent, until no part is in flight, until the deadline has passed, or until {@code stop} is true.
     * Can return early.
     *
     * @return the number of parts that were moved since {@link #begin}
     */
    long await(long deadlineNs, BooleanSupplier stop) throws InterruptedException {
        try (ScopedLock.Held _ = lock.hold()) {
            boolean retries = !waiting.isEmpty();
            if (!stop.getAsBoolean() && (retries || inFlightCount > 0)) {
                clock.awaitUntil(changed, retries && retryAtNs - deadlineNs < 0 ? retryAtNs : deadlineNs);
            }
            return moved;
        }
    }

    /** Waits for a limited time until no part is in flight. Returns whether the thread was interrupted during the wait. */
    boolean awaitLanded(long timeoutNs) {
        long deadlineNs = clock.nanoTime() + timeoutNs;
        boolean interrupted = false;
        boolean inTime = true;
        try (ScopedLock.Held _ = lock.hold()) {
            while (inFlightCount > 0 && inTime) {
                try {
                    inTime = clock.awaitUntil(changed, deadlineNs);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        return interrupted;
    }

    /** Returns whether the whole range was moved. */
    boolean isDone() {
        try (ScopedLock.Held _ = lock.hold()) {
            return next == length && isIdle();
        }
    }

    /** Returns whether no part is in flight and no part waits to be sent again. */
    boolean isIdle() {
        try (ScopedLock.Held _ = lock.hold()) {
            return inFlightCount == 0 && waiting.isEmpty();
        }
    }

    /** Drops the parts that wait to be sent again, because the call has failed. */
    void endWaiting() {
        try (ScopedLock.Held _ = lock.hold()) {
            while (!waiting.isEmpty()) {
                end(waiting.pop(), false);
            }
            rounds.failed();
        }
    }

    /** The maximum number of parts in flight. */
    int capacity() {
        return inFlight.length;
    }

    /** The command that carries a part in flight, with its session and its tag. */
    record Carrier(IscsiSession session, IoRequest request, int tag) {}

    /** Returns the command in flight at an index from 0 to {@link #capacity} - 1; null if the index is free. */
    Carrier carrier(int index) {
        try (ScopedLock.Held _ = lock.hold()) {
            Part part = inFlight[index];
            return part == null ? null : new Carrier(part.session, part.request, part.tag);
        }
    }
}
