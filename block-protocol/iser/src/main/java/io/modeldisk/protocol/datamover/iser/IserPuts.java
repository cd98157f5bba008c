package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.time.NanoClock;

/** The reads whose last RDMA WRITE and response are in flight (Put_Data of RFC 7145), in sending order. Thread-safe. */
final class IserPuts {
    private final IserTransfer[] inFlight;
    private final NanoClock clock;
    private int count;

    /** Creates an empty list with capacity for {@code slots} reads. */
    IserPuts(int slots, NanoClock clock) {
        this.clock = clock;
        inFlight = new IserTransfer[slots];
    }

    /** Adds a read command. {@code statSn} is the StatSN of the response. */
    synchronized void add(IserTransfer put, int statSn) {
        put.putBegins(statSn, clock.nanoTime());
        inFlight[count++] = put;
    }

    /** Removes a completed read command, if the list contains it. */
    synchronized void remove(IserTransfer put) {
        for (int i = 0; i < count; i++) {
            if (inFlight[i] == put) {
                System.arraycopy(inFlight, i + 1, inFlight, i, --count - i);
                inFlight[count] = null;
                return;
            }
        }
    }

    /** Returns the oldest read command if {@code expStatSn} acknowledges the response to this command. Otherwise returns null. */
    synchronized IserTransfer acknowledged(int expStatSn) {
        return count > 0 && inFlight[0].putStatSn - expStatSn < 0 ? inFlight[0] : null;
    }

    /** Returns the time at which the oldest read command was added, or 0 if the list is empty. */
    synchronized long sinceNs() {
        return count > 0 ? inFlight[0].putSinceNs : 0;
    }
}
