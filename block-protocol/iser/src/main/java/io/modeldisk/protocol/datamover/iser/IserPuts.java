package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.time.NanoClock;

/** The reads of a connection whose last WRITE and response are on their way, in the order in which they went out. Thread-safe. */
final class IserPuts {
    private final IserTransfer[] underWay;
    private final NanoClock clock;
    private int count;

    /** Room for all transfers at once. */
    IserPuts(int slots, NanoClock clock) {
        this.clock = clock;
        underWay = new IserTransfer[slots];
    }

    /** Adds a put whose response has this StatSN. */
    synchronized void add(IserTransfer put, int statSn, long nowNs) {
        put.putBegins(statSn, nowNs);
        underWay[count++] = put;
    }

    /** Removes a put that has ended, if it is there. */
    synchronized void remove(IserTransfer put) {
        for (int i = 0; i < count; i++) {
            if (underWay[i] == put) {
                System.arraycopy(underWay, i + 1, underWay, i, --count - i);
                underWay[count] = null;
                return;
            }
        }
    }

    /** The oldest one if its response is acknowledged by {@code expStatSn}, else null. */
    synchronized IserTransfer acknowledged(int expStatSn) {
        return count > 0 && underWay[0].putStatSn() - expStatSn < 0 ? underWay[0] : null;
    }

    /** When the oldest put began; 0 if there is none. */
    synchronized long sinceNs() {
        return count > 0 ? underWay[0].putSinceNs() : 0;
    }
}
