package io.modeldisk.server;

import java.util.concurrent.atomic.LongAdder;

/** The counters of the pushes and pulls of a shard. Thread-safe. */
final class Traffic {
    final LongAdder pushes = new LongAdder();
    final LongAdder pulls = new LongAdder();
    final LongAdder pushedBytes = new LongAdder();
    final LongAdder pulledBytes = new LongAdder();
    /** The writes of weights through LUN 1. */
    final LongAdder rawWrites = new LongAdder();
    /** The pushes with a NaN or an infinity. */
    final LongAdder nonFinitePushes = new LongAdder();
    /** The pushes whose gradient has arrived in memory of a device. */
    final LongAdder devicePushes = new LongAdder();

    void pushed(int lengthBytes) {
        pushes.increment();
        pushedBytes.add(lengthBytes);
    }

    void pulled(int lengthBytes) {
        pulls.increment();
        pulledBytes.add(lengthBytes);
    }
}
