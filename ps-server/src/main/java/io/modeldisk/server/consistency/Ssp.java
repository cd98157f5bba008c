package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import java.util.Arrays;
import java.util.List;

/**
 * Stale synchronous consistency with a staleness of <i>s</i> rounds. A push is applied immediately. A
 * pull by a learner that has pushed <i>k</i> rounds of a block waits until every learner has pushed at least <i>k - s</i> rounds
 * of that block, so the weights of the pull include every learner's rounds up to <i>k - s</i>. A learner that pulls after each
 * push is at most <i>s + 1</i> rounds ahead of the slowest learner.
 *
 * <p><b>Learners.</b> A pull waits for all learners that are connected or within their lease. A newcomer joins after all started
 * rounds, so no pull waits for rounds that the newcomer could not push. While the job forms, learners that have not joined
 * yet count as learners that have pushed nothing. A learner that has started a round of a block has finished all earlier rounds
 * of the block, even if it has left out parts of them.
 *
 * <p><b>Waits.</b> Only pulls wait, each at the first block where a learner is too far behind. The clock of a learner in a block
 * is the last round that the learner has finished in that block. When the lowest clock of a block rises, all pulls that wait at
 * the block are resumed and try again. Clocks are read and changed under the lock of the block. No lock is held while pulls are
 * resumed.
 *
 * <p><b>Pushes without a round number.</b> Such a push belongs to the last round of the block that its learner has started. If
 * the learner has already pushed one of the logical blocks of the push in that round, the push belongs to the next round.
 */
public final class Ssp extends ImmediatePushes {
    private final long staleness;
    private final BlockLayout layout;
    /** For each block, the pulls that wait there. Guarded by the lock of the block. */
    private final ParkedTasks[] parked;
    /**
     * For each block, the lowest clock that the learners had when a waiting pull was parked. When the lowest clock rises above
     * this value, the pulls are resumed. Guarded by the lock of the block.
     */
    private final long[] leastWhenParked;
    private final ParkedTaskFreeList parking = new ParkedTaskFreeList();

    /** @param staleness the number of rounds, at least 0, by which a learner may be behind before other learners wait for it */
    public Ssp(int staleness, BlockStore store, Aggregator aggregator, Learners learners) {
        super(store, aggregator, learners);
        if (staleness < 0) {
            throw new IllegalArgumentException("staleness=" + staleness + " must not be negative");
        }
        this.staleness = staleness;
        this.layout = store.layout();
        this.parked = new ParkedTasks[layout.blocks()];
        Arrays.setAll(parked, _ -> new ParkedTasks());
        this.leastWhenParked = new long[parked.length];
    }

    @Override
    public boolean push(IoTask task, boolean skipped) throws ScsiException {
        Learner member = RoundRules.learner(learners, task);
        RoundRules.checkEnough(learners);
        try {
            take(task, member, skipped);
            if (task.round() == IoTask.IMPLIED_ROUND) {
                countRound(task, member);
            }
        } finally {
            // This code runs even if the aggregator failed, because some blocks may have changed. A pull that starts to wait
            // after this check has seen the marks of this push, because a pull reads marks under the lock of the block.
            if (parking.waiting() > 0) {
                wake(layout.blockOf(task.offset()), layout.lastBlock(task.offset(), task.lengthBytes()));
            }
        }
        return true;
    }

    /** Records the round of a push without a round number in the marks of its learner. */
    private void countRound(IoTask task, Learner member) {
        RoundMarks marks = member.marks();
        int last = layout.lastBlock(task.offset(), task.lengthBytes());
        for (int i = layout.blockOf(task.offset()); i <= last; i++) {
            int from = layout.firstLogicalBlock(task.offset(), i);
            int end = layout.endLogicalBlock(task.offset(), task.lengthBytes(), i);
            try (ScopedLock.Held _ = store.block(i).hold()) {
                long round = Math.max(marks.markedRound(i), member.joinRound());
                if (marks.nextMarked(i, round, from, end) < end) {
                    round++;
                }
                learners.opened(round);
                member.mark(i, round, from, end, layout.logicalBlocks(i));
                if (records != null) {
                    records.pushWithoutData(i, from * LogicalBlock.BYTES, (end - from) * LogicalBlock.BYTES,
                        member.number(), round, store.block(i).version());
                }
            }
        }
    }

    @Override
    public boolean admit(IoTask task) throws ScsiException {
        Learner member = task.round() == IoTask.IMPLIED_ROUND
            ? learners.member(task.nexus())
            : null;
        int last = layout.lastBlock(task.offset(), task.lengthBytes());
        for (int i = layout.blockOf(task.offset()); i <= last; i++) {
            try (ScopedLock.Held _ = store.block(i).hold()) {
                // The clock of a pull is the round number of the pull. If a learner pulls without a round number, the clock is
                // the last round that the learner has finished. If the clock is 0 or less, the pull does not wait.
                long clock = member == null ? task.round() : member.marks().finishedRound(i);
                long least = leastClock(i);
                if (clock - staleness > least) {
                    RoundRules.checkEnough(learners);
                    leastWhenParked[i] = parked[i].isEmpty() ? least : Math.min(leastWhenParked[i], least);
                    parking.park(task, parked[i]);
                    return false;
                }
            }
        }
        return true;
    }

    /** The lowest clock of all learners in a block. The caller holds the lock of the block. */
    private long leastClock(int block) {
        Roster<Learner> roster = learners.roster();
        List<Learner> members = roster.members();
        long least = roster.formed() ? Long.MAX_VALUE : 0;
        for (int i = 0; i < members.size(); i++) {
            least = Math.min(least, members.get(i).finishedRound(block));
        }
        return least;
    }

    private void wake(int first, int last) {
        for (int i = first; i <= last; i++) {
            ParkedTask woken = null;
            try (ScopedLock.Held _ = store.block(i).hold()) {
                if (!parked[i].isEmpty() && (learners.roster().tooFew() || leastClock(i) > leastWhenParked[i])) {
                    woken = parked[i].detachBefore(null);
                }
            }
            parking.resumeAll(woken);
        }
    }

    @Override
    public void forget(IoTask task) {
        int last = layout.lastBlock(task.offset(), task.lengthBytes());
        for (int i = layout.blockOf(task.offset()); i <= last; i++) {
            parking.forget(task, store.block(i), parked[i]);
        }
    }

    @Override
    public void learnersLeft() {
        // No block is locked while a learner leaves, so a pull at any block may still wait for that learner.
        wake(0, parked.length - 1);
    }

    @Override
    public int waiting() {
        return parking.waiting();
    }

    @Override
    public long allowance() {
        return staleness;
    }
}
