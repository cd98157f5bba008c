package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Member;
import java.util.concurrent.atomic.LongAdder;

/** What is kept for a learner: what it moved, which rounds it pushed, which of its tasks wait. Thread-safe. */
public final class LearnerProgress {
    private final LongAdder pushes = new LongAdder();
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();
    private final RoundMarks marks;
    private final RoundTimes times;
    private final PendingWrites pending = new PendingWrites();

    /** A learner that has pushed nothing yet; which rounds it will push goes to {@code marks}, when to its shard's times. */
    public LearnerProgress(RoundMarks marks, RoundTimes times) {
        this.marks = marks;
        this.times = times;
    }

    /** The last round of a block that a learner is through with; the block is locked. */
    public static long finishedRound(Member<?, LearnerProgress> member, int block) {
        // What is before the round at which it joined is not its to push.
        return Math.max(member.joinRound() - 1, member.progress().marks().finishedRound(block));
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

    /** It has pushed these logical blocks of a block in this round; the block is locked. */
    void mark(int block, long round, int from, int end, int logicalBlocks) {
        if (marks.mark(block, round, from, end, logicalBlocks)) {
            times.finished(round);
        }
    }

    void pushed(int lengthBytes) {
        pushes.increment();
        pushedBytes.add(lengthBytes);
    }

    PendingWrites pending() {
        return pending;
    }
}
