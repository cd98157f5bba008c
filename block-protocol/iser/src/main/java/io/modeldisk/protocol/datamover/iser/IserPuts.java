package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.time.NanoClock;

/** The reads whose last WRITE and response are being sent, in the order of sending. Thread-safe. */
final class IserPuts {
    private final IserTransfer[] inFlight;
    private final NanoClock clock;
    private int count;

    /** Room for all transfers at once. */
    IserPuts(int slots, NanoClock clock) {
        this.clock = clock;
        inFlight = new IserTransfer[slots];
    }

    /** Adds a put whose response has this StatSN. */
    synchronized void add(IserTransfer put, int statSn) {
        put.putBegins(statSn, clock.nanoTime());
        inFlight[count++] = put;
    }

    /** Removes a put that has ended, if it is there. */
    synchronized void remove(IserTransfer put) {
        for (int i = 0; i < count; i++) {
            if (inFlight[i] == put) {
                System.arraycopy(inFlight, i + 1, inFlight, i, --count - i);
                inFlight[count] = null;
                return;
            }
        }
    }

    /** The oldest one if its response is acknowledged by {@code expStatSn}, else null. */
    synchronized IserTransfer acknowledged(int expStatSn) {
        return count > 0 && inFlight[0].putStatSn() - expStatSn < 0 ? inFlight[0] : null;
    }

    /** When the oldest put began; 0 if there is none. */
    synchronized long sinceNs() {
        return count > 0 ? inFlight[0].putSinceNs() : 0;
    }
}
