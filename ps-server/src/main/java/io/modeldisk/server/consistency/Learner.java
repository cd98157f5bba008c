package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Member;
import io.modeldisk.protocol.engine.Nexus;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** A learner of a shard: its traffic, the rounds that it has pushed, and its waiting writes. Thread-safe. */
public final class Learner extends Member<Nexus> {
    private final LongAdder pushes = new LongAdder();
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();
    private final LongAdder lateNs = new LongAdder();
    private final AtomicLong nonFinite = new AtomicLong();
    private final RoundMarks marks;
    private final RoundTimes roundTimes;
    private final PendingWrites pending = new PendingWrites();

    Learner(Nexus nexus, RoundMarks marks, RoundTimes roundTimes) {
        super(nexus);
        this.marks = marks;
        this.roundTimes = roundTimes;
    }

    /** The label of the learner in logs and in the status. */
    public String label() {
        return key().learner();
    }

    /** The last round of a block that the learner has finished. The caller holds the lock of the block. */
    public long finishedRound(int block) {
        // The learner does not push the rounds before the round at which it joined.
        return Math.max(joinRound() - 1, marks.finishedRound(block));
    }

    /** The number of accepted pushes. */
    public long pushes() {
        return pushes.sum();
    }

    /** The number of bytes of all accepted pushes. */
    public long pushedBytes() {
        return pushedBytes.sum();
    }

    /** The number of bytes of all admitted pulls. */
    public long pulledBytes() {
        return pulledBytes.sum();
    }

    /** The number of pushes with a NaN or an infinity. */
    public long nonFinitePushes() {
        return nonFinite.get();
    }

    /** Counts a push with a NaN or an infinity. Returns the number of such pushes. */
    public long nonFinite() {
        return nonFinite.incrementAndGet();
    }

    /** The rounds that the learner has pushed, for each block. */
    public RoundMarks marks() {
        return marks;
    }

    /** Counts an admitted pull. */
    public void pulled(int lengthBytes) {
        pulledBytes.add(lengthBytes);
    }

    /** Marks logical blocks {@code from} to {@code end} (exclusive) as pushed in a round. The caller holds the block's lock. */
    void mark(int block, long round, int from, int end, int logicalBlocks) {
        if (marks.mark(block, round, from, end, logicalBlocks)) {
            roundTimes.finished(round);
        }
    }

    @Override
    protected void continueAfter(long round) {
        marks.continueAfter(round);
    }

    /** Records that the learner was the last one to push a round. The round has waited for this time. */
    void late(long waitNs) {
        lateNs.add(waitNs);
    }

    /** The time for which rounds have waited for this learner after another learner had pushed them. */
    public long lateNs() {
        return lateNs.sum();
    }

    void pushed(int lengthBytes) {
        pushes.increment();
        pushedBytes.add(lengthBytes);
    }

    PendingWrites pending() {
        return pending;
    }
}
