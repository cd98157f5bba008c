package io.modeldisk.striping;

import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The times at which the weights of a pull arrive. They show how long the pull has waited for other learners, because a pull
 * in {@code bsp} gets no weights until its round is complete, and which shard was the last one. Thread-safe. Allocates no
 * memory.
 */
public final class Arrivals {
    private final NanoClock clock;
    /** The time of the last arrival from each shard. */
    private final AtomicLongArray lastNs;
    private volatile boolean any;
    private volatile long firstNs;

    /** Creates an object for a model with this number of shards. */
    public Arrivals(NanoClock clock, int shards) {
        this.clock = clock;
        this.lastNs = new AtomicLongArray(shards);
    }

    /** Records that a pull begins now. Arrivals of earlier pulls no longer count. */
    public void begin(long nowNs) {
        for (int i = 0; i < lastNs.length(); i++) {
            lastNs.set(i, nowNs);
        }
        firstNs = nowNs;
        any = false;
    }

    /** Records that a shard has sent weights. */
    public void arrived(int shard) {
        long nowNs = clock.nanoTime();
        lastNs.set(shard, nowNs);
        if (!any) {
            firstNs = nowNs;
            any = true;
        }
    }

    /** Returns the time at which the first weights arrived; the time of {@link #begin} if none have arrived. */
    public long firstNs() {
        return firstNs;
    }

    /** Returns the shard that was the last one to send weights. */
    public int lastShard() {
        int last = 0;
        for (int i = 1; i < lastNs.length(); i++) {
            last = lastNs.get(i) - lastNs.get(last) > 0 ? i : last;
        }
        return last;
    }

    /** Returns the time for which weights of only one shard were missing; 0 if there is only one shard. */
    public long lagNs() {
        int last = lastShard();
        long lagNs = lastNs.length() == 1 ? 0 : Long.MAX_VALUE;
        for (int i = 0; i < lastNs.length(); i++) {
            lagNs = i == last ? lagNs : Math.min(lagNs, lastNs.get(last) - lastNs.get(i));
        }
        return lagNs;
    }
}
