package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * What a command needs before it is sent: a free {@link IoRequest}, and a place in the target's command window (RFC 7143 section
 * 4.2.2). Also keeps the command and status numbers. Thread-safe; allocates nothing after it is made.
 */
final class SessionNumbers implements InitiatorDatamover.Numbering {
    private final NanoClock clock;
    private final IoRequest[] requests;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();

    // Guarded by the lock.
    private final IoRequest[] free;
    private int freeCount;
    private int reserved = 1;
    private int maxCmdSn = 1;
    private int waiters;
    private int progress = 1;
    private boolean closed;

    private volatile int expStatSn;
    /** Guarded by the datamover, which stamps one PDU at a time. */
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

    /** All requests, by slot. */
    IoRequest[] requests() {
        return requests;
    }

    /** A request for a command, if the target accepts one now; null otherwise. */
    IoRequest tryTake() {
        lock.lock();
        try {
            return take();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for a request.
     *
     * @param stop ends the wait; after a change of its value {@link #wakeAll} must be called
     * @return null if the deadline has passed, the session was closed, or {@code stop} is true
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
            // A signal that this thread has not used is for the next one.
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

    /** Takes back a request that was not sent, and its place in the window. */
    void giveBack(IoRequest request) {
        request.move(IoRequest.State.HELD, IoRequest.State.FREE);
        lock.lock();
        try {
            reserved--;
            addFree(request);
        } finally {
            lock.unlock();
        }
    }

    /** Takes back the request of a command that has ended. */
    void ended(IoRequest request) {
        request.move(IoRequest.State.ENDED, IoRequest.State.FREE);
        lock.lock();
        try {
            addFree(request);
        } finally {
            lock.unlock();
        }
    }

    private void addFree(IoRequest request) {
        free[freeCount++] = request;
        progress++;
        room.signal();
    }

    /** Wakes all threads that wait in {@link #take(long, BooleanSupplier)}, so that they check their {@code stop}. */
    void wakeAll() {
        lock.lock();
        try {
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** A number that changes whenever the target makes room for commands; 0 while no thread waits for room. */
    int awaitedProgress() {
        lock.lock();
        try {
            return waiters == 0 ? 0 : progress | 1 << 31;
        } finally {
            lock.unlock();
        }
    }

    /** Takes a response's numbers into account; for the receiving thread. */
    void received(ResponsePdu response) {
        expStatSn = response.statSn() + 1;
        window(response);
    }

    /** Takes the window of a response without a status into account. */
    void window(ResponsePdu response) {
        int max = response.maxCmdSn();
        lock.lock();
        try {
            if (max - maxCmdSn > 0) {
                boolean wasClosed = reserved - maxCmdSn > 0;
                maxCmdSn = max;
                if (wasClosed) {
                    progress++;
                    room.signalAll();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void stamp(RequestPdu pdu) {
        pdu.numbers(pdu.immediate() ? nextCmdSn : nextCmdSn++, expStatSn);
    }

    @Override
    public int expStatSn() {
        return expStatSn;
    }
}
