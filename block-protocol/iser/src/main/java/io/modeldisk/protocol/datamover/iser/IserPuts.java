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

    /** One more is under way, with this status number in its response. */
    synchronized void add(IserTransfer put, int statSn) {
        put.putBegins(statSn, clock.nanoTime());
        underWay[count++] = put;
    }

    /** One is over. Does nothing if that is known. */
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

    /** When the oldest one was sent; 0 if none is under way. */
    synchronized long sinceNanos() {
        return count > 0 ? underWay[0].putSinceNanos() : 0;
    }
}
