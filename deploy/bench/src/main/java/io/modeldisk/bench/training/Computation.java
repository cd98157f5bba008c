package io.modeldisk.bench.training;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The emulation of the computation of a learner. */
public enum Computation {
    /** Sleeps, like a learner with an accelerator that computes. */
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

    // A sleep returns too late by about this time, so SLEEP sleeps less and spins at the end.
    private static final long WAKE_UP_NS = TimeUnit.MICROSECONDS.toNanos(120);

    /** Waits until {@link System#nanoTime} reaches {@code endNs}. */
    abstract void until(long endNs);
}
