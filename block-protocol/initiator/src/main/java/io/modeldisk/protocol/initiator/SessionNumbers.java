package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import java.util.concurrent.TimeUnit;

/** An initiator's command and status numbers and the target's window (RFC 7143 section 4.2.2). Thread-safe. */
final class SessionNumbers implements InitiatorDatamover.Numbering {
    private int reserved = 1;
    private int maxCmdSn = 1;
    private boolean closed;
    private volatile int expStatSn;
    /** Guarded by the datamover, which stamps one PDU at a time. */
    private int nextCmdSn = 1;

    /** Waits until the target takes one more command; answers false after the time, or when the session is closed. */
    synchronized boolean reserve(long timeoutNanos) throws InterruptedException {
        long deadline = System.nanoTime() + timeoutNanos;
        while (!closed && reserved - maxCmdSn > 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        reserved++;
        return !closed;
    }

    /** Gives back a place in the window that was not used. */
    synchronized void unreserve() {
        reserved--;
        notifyAll();
    }

    /** Takes a response's numbers into account; for the receiving thread. */
    void received(ResponsePdu response) {
        expStatSn = response.statSn() + 1;
        window(response);
    }

    /** Takes the window of a response without a status. */
    synchronized void window(ResponsePdu response) {
        if (response.maxCmdSn() - maxCmdSn > 0) {
            maxCmdSn = response.maxCmdSn();
            notifyAll();
        }
    }

    synchronized void close() {
        closed = true;
        notifyAll();
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
