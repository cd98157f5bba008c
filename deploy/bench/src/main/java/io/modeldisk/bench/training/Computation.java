package io.modeldisk.bench.training;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How an emulated learner spends its computation time. */
public enum Computation {
    /** Sleeps, like a learner whose accelerator computes. */
    SLEEP {
        @Override
        void until(long endNs) {
            for (long leftNs = endNs - System.nanoTime(); leftNs > WAKE_UP_NS; leftNs = endNs - System.nanoTime()) {
                LockSupport.parkNanos(leftNs - WAKE_UP_NS);
            }
            SPIN.until(endNs);
        }
    },
    /** Keeps one processor busy, like a learner that computes on it. */
    SPIN {
        @Override
        void until(long endNs) {
            while (System.nanoTime() - endNs < 0) {
                Thread.onSpinWait();
            }
        }
    };

    // A sleep ends late by about this much, so the rest is spun.
    private static final long WAKE_UP_NS = TimeUnit.MICROSECONDS.toNanos(120);

    /** Returns at this time of {@link System#nanoTime}. */
    abstract void until(long endNs);
}
