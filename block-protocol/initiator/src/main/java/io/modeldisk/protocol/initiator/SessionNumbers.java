package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/**
 * Provides free {@link IoRequest}s, and sets the command number and the expected status number of each PDU that is sent. The
 * target's command window (RFC 7143 section 4.2.2) limits the number of requests in use. Thread-safe; allocates nothing after
 * construction.
 */
final class SessionNumbers implements InitiatorDatamover.Numbering {
    private final NanoClock clock;
    private final IoRequest[] requests;
    private final ScopedLock lock = new ScopedLock();
    private final Condition room = lock.newCondition();

    // Guarded by {@code lock}.
    private final IoRequest[] free;
    private int freeCount;
    private int reserved = 1;
    private int maxCmdSn = 1;
    private int waiters;
    private int progress = 1;
    private boolean closed;

    private volatile int expStatSn;
    /** Only {@link #stamp} uses this field. The datamover never calls that method for two PDUs concurrently. */
    private int nextCmdSn = 1;

    SessionNumbers(int queueDepth, NanoClock clock) {
        this.clock = clock;
        this.requests = new IoRequest[queueDepth];
        this.free = new IoRequest[queueDepth];
        this.freeCount = queueDepth;
        for (int i = 0; i < queueDepth; i++) {
            requests[i] = new IoRequest(i);
            free[queueDepth - 1 - i] = requests[i];
        }
    }

    /** Returns all requests, indexed by slot. */
    IoRequest[] requests() {
        return requests;
    }

    /** Returns a request for a command if the target accepts a command now; null otherwise. */
    IoRequest tryTake() {
        try (ScopedLock.Held _ = lock.hold()) {
            return take();
        }
    }

    /**
     * Waits until a request is free and the target accepts a command. Then acquires the request.
     *
     * @param stop the condition that stops the wait; {@link #wakeAll} must be called after each change of the condition
     * @return the request; null if the deadline has passed, the session is closed, or {@code stop} is true
     */
    IoRequest take(long deadlineNs, BooleanSupplier stop) throws InterruptedException {
        lock.lock();
        waiters++;
        try {
            IoRequest request = take();
            boolean inTime = true;
            while (request == null && !closed && inTime && !stop.getAsBoolean()) {
                inTime = clock.awaitUntil(room, deadlineNs);
                request = take();
            }
            return request;
        } finally {
            waiters--;
            // This thread might have consumed a signal that was meant for another waiting thread. If a request is free, this
            // thread therefore wakes another one.
            if (waiters > 0 && freeCount > 0) {
                room.signal();
            }
            lock.unlock();
        }
    }

    private IoRequest take() {
        if (closed || freeCount == 0 || reserved - maxCmdSn > 0) {
            return null;
        }
        reserved++;
        IoRequest request = free[--freeCount];
        request.move(IoRequest.State.FREE, IoRequest.State.HELD);
        return request;
    }

    /** Frees a request that was not sent, and its reserved place in the command window. */
    void giveBack(IoRequest request) {
        request.move(IoRequest.State.HELD, IoRequest.State.FREE);
        try (ScopedLock.Held _ = lock.hold()) {
            reserved--;
            addFree(request);
        }
    }

    /** Frees the request of a command that has completed or failed. */
    void ended(IoRequest request) {
        request.move(IoRequest.State.ENDED, IoRequest.State.FREE);
        try (ScopedLock.Held _ = lock.hold()) {
            addFree(request);
        }
    }

    private void addFree(IoRequest request) {
        free[freeCount++] = request;
        progress++;
        room.signal();
    }

    /** Wakes all threads that wait in {@link #take(long, BooleanSupplier)}, so they check {@code stop} again. */
    void wakeAll() {
        try (ScopedLock.Held _ = lock.hold()) {
            room.signalAll();
        }
    }

    /**
     * Returns a number that changes when a request becomes free or the command window opens; 0 while no thread waits for a
     * request.
     */
    int awaitedProgress() {
        try (ScopedLock.Held _ = lock.hold()) {
            return waiters == 0 ? 0 : progress | 1 << 31;
        }
    }

    /** Records the status number and the command window of a response. Only the receiving thread calls this method. */
    void received(ResponsePdu response) {
        expStatSn = response.statSn() + 1;
        window(response);
    }

    /** Records the command window of a PDU from the target. */
    void window(ResponsePdu response) {
        int max = response.maxCmdSn();
        try (ScopedLock.Held _ = lock.hold()) {
            if (max - maxCmdSn > 0) {
                boolean wasClosed = reserved - maxCmdSn > 0;
                maxCmdSn = max;
                if (wasClosed) {
                    progress++;
                    room.signalAll();
                }
            }
        }
    }

    void close() {
        try (ScopedLock.Held _ = lock.hold()) {
            closed = true;
            room.signalAll();
        }
    }

    @Override
    public void stamp(RequestPdu pdu) {
        int cmdSn = pdu.immediate() ? nextCmdSn : nextCmdSn++;
        pdu.numbers(cmdSn, expStatSn);
        // Only the PDU of a command carries the tag of an IoRequest. This IoRequest stores the CmdSN of the command.
        int slot = IoRequest.slotOf(pdu.initiatorTaskTag());
        if (slot < requests.length && requests[slot].initiatorTaskTag() == pdu.initiatorTaskTag()) {
            requests[slot].sent(cmdSn);
        }
    }

    @Override
    public int expStatSn() {
        return expStatSn;
    }
}
