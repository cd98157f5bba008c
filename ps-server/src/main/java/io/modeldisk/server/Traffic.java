package io.modeldisk.server;

import java.util.concurrent.atomic.LongAdder;

/** Counts the pushes and pulls of the train unit, and their bytes. Thread-safe. */
final class Traffic {
    private final LongAdder pushes = new LongAdder();
    private final LongAdder pulls = new LongAdder();
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();
    private final LongAdder rawWrites = new LongAdder();
    private final LongAdder nonFinitePushes = new LongAdder();
    private final LongAdder devicePushes = new LongAdder();

    void pushed(int lengthBytes) {
        pushes.increment();
        pushedBytes.add(lengthBytes);
    }

    void pulled(int lengthBytes) {
        pulls.increment();
        pulledBytes.add(lengthBytes);
    }

    /** Counts a write of weights through LUN 1. */
    void rawWrite() {
        rawWrites.increment();
    }

    long rawWrites() {
        return rawWrites.sum();
    }

    void nonFinite() {
        nonFinitePushes.increment();
    }

    long nonFinitePushes() {
        return nonFinitePushes.sum();
    }

    /** Counts a push whose gradient has arrived in memory of a device. */
    void pushedToDevice() {
        devicePushes.increment();
    }

    long devicePushes() {
        return devicePushes.sum();
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
