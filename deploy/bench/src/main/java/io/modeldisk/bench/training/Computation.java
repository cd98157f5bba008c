package io.modeldisk.bench.training;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The emulation of the computation of a learner. */
public enum Computation {
    /** Sleeps, like a learner that waits for an accelerator. */
    SLEEP {
        @Override
        void until(long endNs) {
            for (long leftNs = endNs - System.nanoTime(); leftNs > WAKE_UP_NS; leftNs = endNs - System.nanoTime()) {
                LockSupport.parkNanos(leftNs - WAKE_UP_NS);
            }
            SPIN.until(endNs);
        }
    },
    /** Keeps one processor busy, like a learner that computes on this processor. */
    SPIN {
        @Override
        void until(long endNs) {
            while (System.nanoTime() - endNs < 0) {
                Thread.onSpinWait();
            }
        }
    };

    // The typical delay of a wake-up. SLEEP ends the sleep earlier by this time, and then spins.
    private static final long WAKE_UP_NS = TimeUnit.MICROSECONDS.toNanos(120);

    /** Waits until {@link System#nanoTime} reaches {@code endNs}. */
    abstract void until(long endNs);
}
