package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockLayout;
import io.modeldisk.server.block.BlockStore;
import java.util.List;

/**
 * Stale synchronous: a push is applied at once ({@link ImmediatePushes}); a pull by a learner that has pushed <i>k</i> rounds of
 * a block waits until every learner has pushed at least <i>k - s</i> of it. So the weights it returns include every learner's
 * rounds up to <i>k - s</i>, and a learner that pulls after each push is at most <i>s + 1</i> rounds ahead.
 *
 * <p><b>Which learners a pull waits for.</b> All, live or within their lease, from the round at which each joined. A newcomer
 * joins after all rounds that were begun, so that no pull waits before it has had time to push one. While the job forms, learners
 * that are still missing count as learners that have pushed nothing. A learner that has begun a round of a block has finished
 * those before, also where it has left a part of them out.
 *
 * <p><b>What waits.</b> Only pulls, each at the first block where a learner is too far behind. All waiting pulls of a block are
 * resumed when the least clock of its learners rises, and ask again. Each block is judged under its lock, under which pushes
 * mark it; no lock is held while resuming.
 *
 * <p>A push that names no round is of the round of the block that its learner is in, or of the next if it has pushed one of its
 * logical blocks in that already.
 */
public final class Ssp implements Consistency {
    private final long staleness;
    private final BlockStore store;
    private final BlockLayout layout;
    private final Learners membership;
    private final ImmediatePushes pushes;
    private final StaleBlock[] blocks;
    private final ParkedTaskFreeList parking = new ParkedTaskFreeList();

    /** Serves the blocks of this store; {@code staleness} is the rounds that other learners may lag behind, from 0. */
    public Ssp(int staleness, BlockStore store, Aggregator aggregator, Learners membership) {
        if (staleness < 0) {
            throw new IllegalArgumentException("staleness=" + staleness + " must not be negative");
        }
        this.staleness = staleness;
        this.store = store;
        this.layout = store.layout();
        this.membership = membership;
        this.pushes = new ImmediatePushes(store, aggregator, membership);
        this.blocks = new StaleBlock[layout.blocks()];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = new StaleBlock(store.block(i));
        }
    }

    @Override
    public boolean push(IoTask task, boolean skipped) throws ScsiException {
        Learner member = RoundRules.learner(membership, task);
        RoundRules.checkEnough(membership);
        try {
            pushes.take(task, member, skipped);
            if (task.round() == IoTask.IMPLIED_ROUND) {
                countRound(task, member);
            }
        } finally {
            // The part that an aggregator has done before it failed counts too.
            // A pull that parks later has seen these marks, under the block's lock.
            if (parking.waiting() > 0) {
                wake(layout.blockOf(task.offset()), layout.lastBlock(task.offset(), task.lengthBytes()));
            }
        }
        return true;
    }

    /** Moves the clocks of a learner that names no rounds. */
    private void countRound(IoTask task, Learner member) {
        RoundMarks marks = member.marks();
        int last = layout.lastBlock(task.offset(), task.lengthBytes());
        for (int i = layout.blockOf(task.offset()); i <= last; i++) {
            int from = layout.firstLogicalBlock(task.offset(), i);
            int end = layout.endLogicalBlock(task.offset(), task.lengthBytes(), i);
            store.block(i).lock();
            try {
                long round = Math.max(marks.markedRound(i), member.joinRound());
                if (marks.nextMarked(i, round, from, end) < end) {
                    round++;
                }
                membership.opened(round);
                member.mark(i, round, from, end, layout.logicalBlocks(i));
            } finally {
                store.block(i).unlock();
            }
        }
    }

    @Override
    public boolean admitPull(IoTask task) throws ScsiException {
        try {
            return admit(task);
        } catch (ScsiException e) {
            // It ends now, and may have waited before.
            forget(task);
            throw e;
        }
    }

    private boolean admit(IoTask task) throws ScsiException {
        Learner member = task.round() == IoTask.IMPLIED_ROUND
            ? membership.member(task.nexus())
            : null;
        int last = layout.lastBlock(task.offset(), task.lengthBytes());
        for (int i = layout.blockOf(task.offset()); i <= last; i++) {
            StaleBlock block = blocks[i];
            block.block().lock();
            try {
                // The last round that the nexus has pushed, or that it asks for; 0 or less asks for none.
                long clock = member == null ? task.round() : member.marks().finishedRound(i);
                long least = leastClock(i);
                if (clock - staleness > least) {
                    RoundRules.checkEnough(membership);
                    block.park(task, least, parking);
                    return false;
                }
            } finally {
                block.block().unlock();
            }
        }
        return true;
    }

    /** The clock of the learner that is furthest behind; the block is locked. */
    private long leastClock(int block) {
        Roster<Learner> roster = membership.roster();
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
            blocks[i].block().lock();
            try {
                if (blocks[i].hasParked()) {
                    woken = membership.roster().tooFew()
                        ? blocks[i].detachAll()
                        : blocks[i].detachIfAbove(leastClock(i));
                }
            } finally {
                blocks[i].block().unlock();
                parking.resumeAll(woken);
            }
        }
    }

    /** Nothing of a push waits here. */
    @Override
    public boolean synchronize(IoTask task) {
        return true;
    }

    @Override
    public void forget(IoTask task) {
        int last = layout.lastBlock(task.offset(), task.lengthBytes());
        for (int i = layout.blockOf(task.offset()); i <= last; i++) {
            parking.forget(task, blocks[i].block(), blocks[i].parked());
        }
    }

    @Override
    public void learnersLeft() {
        // Under no block's lock: a pull may have counted them, and be about to park. So every block is looked at.
        wake(0, blocks.length - 1);
    }

    @Override
    public int waiting() {
        return parking.waiting();
    }

    @Override
    public long allowance() {
        return staleness;
    }

    @Override
    public long rounds(int block) {
        return -1;
    }
}
