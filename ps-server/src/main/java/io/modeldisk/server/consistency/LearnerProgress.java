package io.modeldisk.server.consistency;

import java.util.concurrent.atomic.LongAdder;

/** What is kept for a learner: what it moved, which rounds it pushed, which of its tasks wait. Thread-safe. */
public final class LearnerProgress {
    private final LongAdder pushes = new LongAdder();
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();
    private final RoundMarks marks;
    private final PendingWrites pending = new PendingWrites();

    /** A learner that has pushed nothing yet; which rounds it will push goes to {@code marks}. */
    public LearnerProgress(RoundMarks marks) {
        this.marks = marks;
    }

    /** How many write commands were taken. */
    public long pushes() {
        return pushes.sum();
    }

    /** How many bytes of gradient were taken. */
    public long pushedBytes() {
        return pushedBytes.sum();
    }

    /** How many bytes of weights it was let pull. */
    public long pulledBytes() {
        return pulledBytes.sum();
    }

    /** Which rounds it pushed. */
    public RoundMarks marks() {
        return marks;
    }

    /** Counts weights that it was let pull. */
    public void pulled(int lengthBytes) {
        pulledBytes.add(lengthBytes);
    }

    void pushed(int lengthBytes) {
        pushes.increment();
        pushedBytes.add(lengthBytes);
    }

    PendingWrites pending() {
        return pending;
    }
}
