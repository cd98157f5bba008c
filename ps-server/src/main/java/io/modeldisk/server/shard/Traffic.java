package io.modeldisk.server.shard;

import java.util.concurrent.atomic.LongAdder;

/** The counters of the pushes and pulls of a shard. Thread-safe. */
public final class Traffic {
    /** The accepted pushes. */
    public final LongAdder pushes = new LongAdder();
    /** The admitted pulls. */
    public final LongAdder pulls = new LongAdder();
    /** The bytes of all accepted pushes. */
    public final LongAdder pushedBytes = new LongAdder();
    /** The bytes of all admitted pulls. */
    public final LongAdder pulledBytes = new LongAdder();
    /** The writes of weights through LUN 1. */
    public final LongAdder rawWrites = new LongAdder();
    /** The pushes with a NaN or an infinity. */
    public final LongAdder nonFinitePushes = new LongAdder();
    /** The pushes whose gradient has arrived in memory of a device. */
    public final LongAdder devicePushes = new LongAdder();

    /** Counts an accepted push. */
    public void pushed(int lengthBytes) {
        pushes.increment();
        pushedBytes.add(lengthBytes);
    }

    /** Counts an admitted pull. */
    public void pulled(int lengthBytes) {
        pulls.increment();
        pulledBytes.add(lengthBytes);
    }
}
