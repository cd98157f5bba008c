package io.modeldisk.mount.exchange;

import io.modeldisk.platform.time.NanoClock;

/** The time in which at least one thread copies data between a learner and the buffers. Thread-safe. */
final class CopyTime {
    private final NanoClock clock;
    private int copying;
    private long sinceNs;
    private long totalNs;

    CopyTime(NanoClock clock) {
        this.clock = clock;
    }

    synchronized void begins() {
        if (copying++ == 0) {
            sinceNs = clock.nanoTime();
        }
    }

    synchronized void ends() {
        if (--copying == 0) {
            totalNs += clock.nanoTime() - sinceNs;
        }
    }

    /** Returns the copy time since the last call of this method, without copies that have not ended. */
    synchronized long takeNs() {
        long takenNs = totalNs;
        totalNs = 0;
        return takenNs;
    }
}
