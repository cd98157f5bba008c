package io.modeldisk.mount.exchange;

import java.util.HashMap;
import java.util.Map;

/** The times of a learner's last iterations, divided into parts, and the start of the current fsync. Thread-safe. */
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

    /** Returns the sum of the last iterations. Only the shard with the longest total wait keeps its waits. */
    public synchronized TimeShares sum() {
        int slowest = 0;
        long longestNs = 0;
        Map<Integer, Long> lagNs = new HashMap<>();
        for (int i = 0; i < count(); i++) {
            long ns = lagNs.merge(kept[i].shard(), kept[i].lagNs(), Long::sum);
            slowest = ns > longestNs ? kept[i].shard() : slowest;
            longestNs = Math.max(longestNs, ns);
        }
        TimeShares sum = TimeShares.NONE.waitingFor(slowest);
        for (int i = 0; i < count(); i++) {
            sum = sum.plus(kept[i].waitingFor(slowest));
        }
        return sum;
    }

    private int count() {
        return Math.min(added, KEPT);
    }

    /** Returns the time for which the current fsync has been in progress; 0 if no fsync is in progress. */
    public synchronized long fsyncNs(long nowNs) {
        return inFsync ? nowNs - fsyncSinceNs : 0;
    }
}
