package io.modeldisk.bench.aggregator;

import java.io.IOException;

/** Measures work that a device repeats, so often that the time of the first and the last repetition does not count. */
final class Repetitions {
    private static final double SECOND_NS = 1e9;
    private static final long LEAST_NS = 20_000_000;
    private static final int MOST = 1 << 20;

    private final boolean once;

    /** @param once whether each measurement is only one repetition, whose time says nothing */
    Repetitions(boolean once) {
        this.once = once;
    }

    /** Work for a device. */
    interface Work {
        /** Does the work this many times, and returns when the device has done it. */
        void run(int times) throws IOException;
    }

    /** Returns the number of repetitions that take long enough. This also warms the work up. */
    int of(Work work) throws IOException {
        int times = 1;
        long elapsed = nanoseconds(work, times);
        while (!once && elapsed < LEAST_NS && times < MOST) {
            times *= 2;
            elapsed = nanoseconds(work, times);
        }
        return times;
    }

    /** Returns the repetitions in a second. */
    static double perSecond(Work work, int times) throws IOException {
        return times * SECOND_NS / nanoseconds(work, times);
    }

    private static long nanoseconds(Work work, int times) throws IOException {
        long begun = System.nanoTime();
        work.run(times);
        return System.nanoTime() - begun;
    }
}
