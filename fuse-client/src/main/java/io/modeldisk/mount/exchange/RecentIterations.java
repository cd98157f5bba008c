package io.modeldisk.mount.exchange;

/** The parts of the time of a learner's last iterations, and the start of the fsync that it calls now. Thread-safe. */
public final class RecentIterations {
    /** The maximum number of iterations. */
    static final int KEPT = 20;

    private final TimeShares[] kept = new TimeShares[KEPT];
    private int added;
    private boolean inFsync;
    private long fsyncSinceNs;

    synchronized void add(TimeShares iteration) {
        kept[added % KEPT] = iteration;
        added++;
    }

    synchronized void fsyncBegins(long nowNs) {
        inFsync = true;
        fsyncSinceNs = nowNs;
    }

    synchronized void fsyncEnds() {
        inFsync = false;
    }

    /** Forgets the iterations of a learner that has left. */
    synchronized void clear() {
        added = 0;
    }

    /** Returns the sum of the last iterations. */
    public synchronized TimeShares sum() {
        TimeShares sum = TimeShares.NONE;
        for (int i = 0; i < Math.min(added, KEPT); i++) {
            sum = sum.plus(kept[i]);
        }
        return sum;
    }

    /** Returns the time for which an fsync is in progress; 0 if there is none. */
    public synchronized long fsyncNs(long nowNs) {
        return inFsync ? nowNs - fsyncSinceNs : 0;
    }
}
