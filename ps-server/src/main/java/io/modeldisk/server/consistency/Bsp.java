package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockLayout;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.PieceVisitor;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Bulk synchronous: each block has rounds, applied once with the mean of its learners' gradients; a pull sees the rounds that
 * the learner has pushed.
 *
 * <p><b>When a round closes.</b> Once the job has formed, a block's open round closes when every learner that takes part in it
 * (it joined at that round or before, and has not left) has pushed the whole block. What a learner contributed before it left
 * counts. If all who took part have left, the round closes as soon as every logical block has a contribution, so that no
 * complete gradient is lost; otherwise it stays open until a newcomer, who takes part from a later round on, needs it out of
 * the way: then it closes with what there is, and logical blocks without a contribution keep their weights. Thus a block's
 * weights always are those of a whole number of rounds. Blocks are apart while a round is under way, and stay so if everybody
 * leaves in the middle of it; learners who stay, or come, bring all to the same round.
 *
 * <p><b>When the job has stopped.</b> With too few learners left, a round closes only if as many as there must be have pushed
 * it, those who left among them: who finishes first does not spoil the last round of the others. Other pushes are refused, and so
 * is every wait, until there are enough learners again.
 *
 * <p><b>What waits.</b> A push that names no round is of the open one: if it touches a logical block its learner has pushed in
 * it, or a round before the learner joined, it waits at the first such block. One that names a later round waits for that; one
 * that names a round its learner has pushed is a repetition, of which only what is missing is taken. Nothing of a push that
 * waits or is refused has been taken, because all its blocks are locked, in ascending order, before any is changed. A pull
 * waits at the first block where the round it names, or one its learner has pushed, has not closed. Whoever waits at a block
 * is resumed when a round closes there, and asks again. No lock is held while resuming.
 */
public final class Bsp implements Consistency {
    private final BlockStore store;
    private final BlockLayout layout;
    private final Aggregator aggregator;
    private final Learners membership;
    private final DataMemory sums;
    private final RoundBlock[] rounds;
    private final ParkingLot parking = new ParkingLot();
    private final PieceVisitor<RoundMarks> contribution = this::contribute;

    /** Serves the blocks of this store, all in round 1; allocates one accumulator of the shard's size. */
    public Bsp(BlockStore store, Aggregator aggregator, Learners membership) {
        this.store = store;
        this.layout = store.layout();
        this.aggregator = aggregator;
        this.membership = membership;
        this.sums = DataMemory.allocate(layout.sizeBytes());
        this.rounds = new RoundBlock[layout.blocks()];
        for (int i = 0; i < rounds.length; i++) {
            rounds[i] = new RoundBlock(store.block(i), sums.segment(layout.offsetOf(i), layout.lengthOf(i)));
        }
    }

    @Override
    public boolean push(IoTask task, boolean skipped) throws ScsiException {
        Learner member = RoundRules.learner(membership, task);
        try {
            return take(task, member, skipped);
        } catch (ScsiException | RuntimeException e) {
            // It ends now, and may have waited before.
            forget(task);
            throw e;
        }
    }

    private boolean take(IoTask task, Learner learner, boolean skipped) throws ScsiException {
        int first = firstBlock(task);
        int last = lastBlock(task);
        boolean taken = false;
        ParkedTask woken = null;
        lock(first, last);
        try {
            for (int i = first; i <= last; i++) {
                // A newcomer finds rounds that nobody who took part is left for.
                if (rounds[i].round() < learner.joinRound()) {
                    woken = closeComplete(rounds[i], woken);
                }
            }
            int obstacle = firstObstacle(task, learner, first, last);
            if (obstacle <= last) {
                park(task, rounds[obstacle]);
                learner.pending().add(task);
            } else {
                if (!skipped) {
                    store.visit(task, contribution, learner.marks());
                }
                for (int i = first; i <= last; i++) {
                    woken = contributed(task, rounds[i], learner, woken);
                }
                taken = true;
            }
        } finally {
            unlock(first, last);
            parking.resumeAll(woken);
        }
        if (taken) {
            learner.pushed(task.lengthBytes());
            learner.pending().remove(task);
        }
        return taken;
    }

    /** The first block that cannot take this push now; above {@code last} if there is none. */
    private int firstObstacle(IoTask task, Learner member, int first, int last)
        throws ScsiException {
        int i = first;
        while (i <= last && takes(rounds[i], task, member)) {
            i++;
        }
        return i;
    }

    private boolean takes(RoundBlock block, IoTask task, Learner member) throws ScsiException {
        int index = block.block().index();
        long round = task.round();
        RoundMarks marks = member.marks();
        boolean stopped = isStopped(block, membership.roster());
        int from = firstLogicalBlock(task, index);
        int end = endLogicalBlock(task, index);
        if (round == IoTask.IMPLIED_ROUND && stopped) {
            throw RoundRules.tooFew(membership);
        }
        if (round == IoTask.IMPLIED_ROUND) {
            return block.round() >= member.joinRound() && marks.nextMarked(index, block.round(), from, end) == end;
        }
        if (round <= marks.clock(index) || marks.nextUnmarked(index, round, from, end) == end) {
            // A repetition: there is nothing left to take.
            return true;
        }
        if (round < Math.max(block.round(), member.joinRound())) {
            throw RoundRules.notInRound(member, round, index);
        }
        if (stopped) {
            throw RoundRules.tooFew(membership);
        }
        return round == block.round();
    }

    /** Adds to the open round what its learner has not pushed in it yet, unless the push is of an earlier one. */
    private boolean contribute(
        IoTask task, RoundMarks marks, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
        RoundBlock target = rounds[block.index()];
        if (!isOfOpenRound(task, target)) {
            return false;
        }
        boolean contributed = false;
        int first = offset / LogicalBlock.BYTES;
        int last = first + lengthBytes / LogicalBlock.BYTES;
        int from = marks.nextUnmarked(block.index(), target.round(), first, last);
        while (from < last) {
            int end = marks.nextMarked(block.index(), target.round(), from, last);
            int start = from * LogicalBlock.BYTES;
            target.contribute(start, data, dataOffset + start - offset, (end - from) * LogicalBlock.BYTES);
            contributed = true;
            from = marks.nextUnmarked(block.index(), target.round(), end, last);
        }
        return contributed;
    }

    private static boolean isOfOpenRound(IoTask task, RoundBlock block) {
        return task.round() == IoTask.IMPLIED_ROUND || task.round() == block.round();
    }

    private ParkedTask contributed(IoTask task, RoundBlock block, Learner learner, ParkedTask woken) {
        if (!isOfOpenRound(task, block)) {
            return woken;
        }
        int index = block.block().index();
        // Before the round can close: see Membership.opened.
        membership.opened(block.round());
        learner.mark(index, block.round(), firstLogicalBlock(task, index), endLogicalBlock(task, index),
            block.logicalBlocks());
        return learner.marks().clock(index) == block.round() ? closeComplete(block, woken) : woken;
    }

    /** Closes the open round, and those after it, as long as they wait for nobody. */
    private ParkedTask closeComplete(RoundBlock block, ParkedTask woken) {
        ParkedTask chain = woken;
        while (mayClose(block, membership.roster())) {
            // Before it is closed: a newcomer must not join at a round that nobody can push any more. See Membership.opened.
            membership.opened(block.round());
            if (!mayClose(block, membership.roster())) {
                return chain;
            }
            block.close(aggregator);
            membership.opened(firstRoundOf(membership.roster().members()) - 1);
            block.skipTo(firstRoundOf(membership.roster().members()));
            chain = block.parked().detachBefore(chain);
        }
        return chain;
    }

    private boolean mayClose(RoundBlock block, Roster<Learner> roster) {
        return isComplete(block, roster) && !isStopped(block, roster);
    }

    /** The first round that anybody takes part in: nobody contributes to those before. 0 if there is nobody. */
    private static long firstRoundOf(List<Learner> members) {
        long first = members.isEmpty() ? 0 : Long.MAX_VALUE;
        for (int i = 0; i < members.size(); i++) {
            first = Math.min(first, members.get(i).joinRound());
        }
        return first;
    }

    private static boolean isComplete(RoundBlock block, Roster<Learner> roster) {
        List<Learner> members = roster.members();
        int index = block.block().index();
        boolean anyTakesPart = false;
        for (int i = 0; i < members.size(); i++) {
            Learner member = members.get(i);
            if (member.joinRound() <= block.round()) {
                anyTakesPart = true;
                if (member.marks().clock(index) < block.round()) {
                    return false;
                }
            }
        }
        return roster.formed() && (anyTakesPart || !members.isEmpty() || block.isCovered());
    }

    /** Whether too few learners are left, and those who have pushed the open round are not enough either. */
    private boolean isStopped(RoundBlock block, Roster<Learner> roster) {
        if (!roster.tooFew()) {
            return false;
        }
        int pushers = block.leastContributions();
        List<Learner> members = roster.members();
        for (int i = 0; i < members.size(); i++) {
            Learner member = members.get(i);
            if (member.joinRound() <= block.round()
                && member.marks().clock(block.block().index()) < block.round()) {
                pushers++;
            }
        }
        return pushers < membership.minLearners();
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
        int last = lastBlock(task);
        for (int i = firstBlock(task); i <= last; i++) {
            RoundBlock block = rounds[i];
            block.block().lock();
            try {
                // What a nexus has pushed, or what it says that it must see: 0 and less is nothing.
                long wanted = member == null ? task.round() : member.marks().clock(i);
                if (wanted >= block.round()) {
                    if (isStopped(block, membership.roster())) {
                        throw RoundRules.tooFew(membership);
                    }
                    park(task, block);
                    return false;
                }
            } finally {
                block.block().unlock();
            }
        }
        return true;
    }

    @Override
    public boolean synchronize(IoTask task) {
        Learner member = membership.member(task.nexus());
        return member == null || member.pending().admit(task);
    }

    @Override
    public void forget(IoTask task) {
        int last = lastBlock(task);
        for (int i = firstBlock(task); i <= last; i++) {
            parking.forget(task, rounds[i].block(), rounds[i].parked());
        }
        Learner member = membership.member(task.nexus());
        if (member != null) {
            member.pending().forgetSynchronization(task);
            member.pending().remove(task);
        }
    }

    @Override
    public void learnersLeft() {
        RuntimeException trouble = null;
        for (RoundBlock block : rounds) {
            ParkedTask woken = null;
            block.block().lock();
            try {
                woken = closeComplete(block, null);
                if (isStopped(block, membership.roster())) {
                    woken = block.parked().detachBefore(woken);
                }
            } catch (RuntimeException e) {
                // Nobody asks again when those who left are forgotten: the other blocks must go on now.
                trouble = e;
            } finally {
                block.block().unlock();
                parking.resumeAll(woken);
            }
        }
        if (trouble != null) {
            throw trouble;
        }
    }

    /** Tasks that wait at a block; a synchronization waits for one of them. */
    @Override
    public int waiting() {
        return parking.waiting();
    }

    @Override
    public long allowance() {
        return 0;
    }

    @Override
    public long rounds(int block) {
        return rounds[block].round() - 1;
    }

    /** Gives the accumulator back. The owner makes sure that nobody uses it any more. */
    @Override
    public void close() {
        sums.close();
    }

    private void park(IoTask task, RoundBlock block) {
        // A task that was resumed without cause may still be there.
        if (!block.parked().contains(task)) {
            block.parked().add(parking.park(task));
        }
    }

    private void lock(int first, int last) {
        for (int i = first; i <= last; i++) {
            rounds[i].block().lock();
        }
    }

    private void unlock(int first, int last) {
        for (int i = last; i >= first; i--) {
            rounds[i].block().unlock();
        }
    }

    private int firstBlock(IoTask task) {
        return layout.blockOf(task.offset());
    }

    private int lastBlock(IoTask task) {
        return layout.lastBlock(task.offset(), task.lengthBytes());
    }

    private int firstLogicalBlock(IoTask task, int block) {
        return layout.firstLogicalBlock(task.offset(), block);
    }

    private int endLogicalBlock(IoTask task, int block) {
        return layout.endLogicalBlock(task.offset(), task.lengthBytes(), block);
    }
}
