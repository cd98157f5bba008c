package io.modeldisk.server;

import java.util.concurrent.atomic.LongAdder;

/** What went through the train unit. Thread-safe. */
final class Traffic {
    private final LongAdder pushes = new LongAdder();
    private final LongAdder pulls = new LongAdder();
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();

    void pushed(int lengthBytes) {
        pushes.increment();
        pushedBytes.add(lengthBytes);
    }

    void pulled(int lengthBytes) {
        pulls.increment();
        pulledBytes.add(lengthBytes);
    }

    long pushes() {
        return pushes.sum();
    }

    long pulls() {
        return pulls.sum();
    }

    long pushedBytes() {
        return pushedBytes.sum();
    }

    long pulledBytes() {
        return pulledBytes.sum();
    }
}
