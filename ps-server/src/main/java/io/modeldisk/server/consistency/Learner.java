package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Member;
import io.modeldisk.protocol.engine.Nexus;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** A learner of a shard: the bytes it moved, the rounds it pushed, and its tasks that wait. Thread-safe. */
public final class Learner extends Member<Nexus> {
    private final LongAdder pushes = new LongAdder();
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();
    private final AtomicLong nonFinite = new AtomicLong();
    private final RoundMarks marks;
    private final RoundTimes roundTimes;
    private final PendingWrites pending = new PendingWrites();

    Learner(Nexus nexus, RoundMarks marks, RoundTimes roundTimes) {
        super(nexus);
        this.marks = marks;
        this.roundTimes = roundTimes;
    }

    /** The label that names it in logs and in the status. */
    public String label() {
        return key().learner();
    }

    /** The last round of a block of which it will push nothing more; the block is locked. */
    public long finishedRound(int block) {
        // It does not push the rounds before the one at which it joined.
        return Math.max(joinRound() - 1, marks.finishedRound(block));
    }

    /** The pushes that were taken. */
    public long pushes() {
        return pushes.sum();
    }

    /** The bytes of gradient that were taken. */
    public long pushedBytes() {
        return pushedBytes.sum();
    }

    /** The bytes of weights that it was admitted to pull. */
    public long pulledBytes() {
        return pulledBytes.sum();
    }

    /** The pushes with a value that is not finite. */
    public long nonFinitePushes() {
        return nonFinite.get();
    }

    /** Counts a push with a value that is not finite; returns their number. */
    public long nonFinite() {
        return nonFinite.incrementAndGet();
    }

    /** The rounds that it has pushed, by block. */
    public RoundMarks marks() {
        return marks;
    }

    /** Counts a pull that was admitted. */
    public void pulled(int lengthBytes) {
        pulledBytes.add(lengthBytes);
    }

    /** Notes that it has pushed these logical blocks of a block in this round; the block is locked. */
    void mark(int block, long round, int from, int end, int logicalBlocks) {
        if (marks.mark(block, round, from, end, logicalBlocks)) {
            roundTimes.finished(round);
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
