package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.PieceVisitor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongFunction;

/**
 * Bulk synchronous consistency. Each block has rounds. When a round closes, the mean of its learners' gradients is applied to the
 * weights. The weights that a learner pulls include all rounds that this learner has pushed. {@link ClosingRules} decides when a
 * round closes, and when the job has stopped.
 *
 * <p><b>Pushes.</b> A push without a round number belongs to the open round. The push waits if its learner joined at a later
 * round, or has already pushed one of the push's logical blocks in the open round. A push of a later round waits for that round.
 * A push with a round number may repeat parts that its learner has pushed in this round; only the other parts are applied. All
 * blocks of a push are locked in ascending order before any block is changed, so a push that waits or is refused has changed
 * nothing.
 *
 * <p><b>Pulls.</b> A pull belongs to the round with the number in the command. A pull without a number belongs to the last round
 * that the learner has pushed. A pull waits at the first block where its round has not closed. For a round before the learner's
 * first round, a pull waits only if other learners may still push this round, or have pushed a part of the open round.
 *
 * <p>When a round of a block closes, the tasks that wait at the block are resumed, without a lock, and try again.
 */
public final class Bsp implements Consistency {
    private final BlockStore store;
    private final BlockLayout layout;
    private final Aggregator aggregator;
    private final Learners learners;
    private final ClosingRules rules;
    /** The memory of the sums; null if they are on a device. */
    private final DataMemory sums;
    private final RoundBlock[] rounds;
    /** The open round of each block, in one array, so a scan is fast. */
    private final AtomicLongArray openRounds;
    private final ParkedTaskFreeList parking = new ParkedTaskFreeList();
    /** Pushes of later rounds wait. */
    private volatile long lastRound = Long.MAX_VALUE;
    private final PieceVisitor<Learner> contribution = this::contribute;
    /** Null if the shard keeps no records. */
    private RecordLog records;

    /**
     * Creates the consistency mode for the blocks of {@code store}. Each block starts in the first round of the learners. Unless
     * the sums of gradients are on a device, allocates memory of the size of the shard for them.
     */
    public Bsp(BlockStore store, Aggregator aggregator, Learners learners) {
        this.store = store;
        this.layout = store.layout();
        this.aggregator = aggregator;
        this.learners = learners;
        this.rules = new ClosingRules(learners);
        this.sums = store.device() == null ? DataMemory.allocate(layout.sizeBytes()) : null;
        this.rounds = new RoundBlock[layout.blocks()];
        this.openRounds = new AtomicLongArray(rounds.length);
        for (int i = 0; i < rounds.length; i++) {
            rounds[i] = new RoundBlock(store.block(i), sums == null
                ? new RoundSum.OnDevice(store.device(), i, layout.lengthOf(i))
                : new RoundSum.OnHost(sums.segment(layout.offsetOf(i), layout.lengthOf(i))), openRounds);
            rounds[i].skipTo(learners.firstRound());
        }
    }

    @Override
    public boolean push(IoTask task, boolean skipped) throws ScsiException {
        Learner learner = RoundRules.learner(learners, task);
        try {
            return take(task, learner, skipped);
        } catch (ScsiException | RuntimeException e) {
            // The task is refused, but it may still be in a list of waiting tasks from an earlier call.
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
                // Complete rounds before the learner's join round are closed here, so the learner can push its first round.
                if (rounds[i].round() < learner.joinRound()) {
                    woken = closeComplete(rounds[i], woken);
                }
            }
            int obstacle = firstObstacle(task, learner, first, last);
            if (obstacle <= last) {
                parking.park(task, rounds[obstacle].parked());
                learner.pending().add(task);
            } else {
                if (!skipped) {
                    store.visit(task, contribution, learner, store.typeOf(task, records != null));
                }
                for (int i = first; i <= last; i++) {
                    woken = contributed(task, rounds[i], learner, skipped, woken);
                    if (task.isAbsent()) {
                        task.addAbsent(learner.marks().absent(i, task.round(), firstLogicalBlock(task, i),
                            endLogicalBlock(task, i)));
                    }
                }
                taken = true;
            }
        } finally {
            unlock(first, last);
            parking.resumeAll(woken);
        }
        if (taken) {
            if (!task.isAbsent()) {
                learner.pushed(task.dataBytes());
            }
            learner.pending().remove(task);
        }
        return taken;
    }

    /** Returns the first block that cannot accept this push now; {@code last + 1} if all blocks can. */
    private int firstObstacle(IoTask task, Learner learner, int first, int last)
        throws ScsiException {
        int i = first;
        while (i <= last && takes(rounds[i], task, learner)) {
            i++;
        }
        return i;
    }

    private boolean takes(RoundBlock block, IoTask task, Learner learner) throws ScsiException {
        int index = block.block().index();
        long round = task.round();
        RoundMarks marks = learner.marks();
        boolean stopped = rules.isStopped(block);
        int from = firstLogicalBlock(task, index);
        int end = endLogicalBlock(task, index);
        if (round == IoTask.IMPLIED_ROUND && stopped) {
            throw RoundRules.tooFew(learners);
        }
        if (round == IoTask.IMPLIED_ROUND) {
            return block.round() <= lastRound && block.round() >= learner.joinRound()
                && marks.nextMarked(index, block.round(), from, end) == end;
        }
        if (round <= marks.clock(index) || marks.nextUnmarked(index, round, from, end) == end) {
            // The push is a repetition, and the learner has already pushed all its parts.
            return true;
        }
        if (round < Math.max(block.round(), learner.joinRound())) {
            throw RoundRules.notInRound(learner, round, index);
        }
        if (stopped) {
            throw RoundRules.tooFew(learners);
        }
        return round == block.round() && round <= lastRound;
    }

    /** Adds to the open round the parts of a push that its learner has not pushed yet. Ignores a push of an earlier round. */
    private boolean contribute(
        IoTask task, Learner learner, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
        RoundBlock target = rounds[block.index()];
        if (!isOfOpenRound(task, target)) {
            return false;
        }
        GradientType type = store.typeOf(task, records != null);
        RoundMarks marks = learner.marks();
        boolean contributed = false;
        int first = offset / LogicalBlock.BYTES;
        int last = first + lengthBytes / LogicalBlock.BYTES;
        int from = marks.nextUnmarked(block.index(), target.round(), first, last);
        while (from < last) {
            int end = marks.nextMarked(block.index(), target.round(), from, last);
            int start = from * LogicalBlock.BYTES;
            target.contribute(start, data, dataOffset + (start - offset) / type.widening(), type,
                (end - from) * LogicalBlock.BYTES);
            if (records != null) {
                records.push(block.index(), start, data, dataOffset + start - offset, (end - from) * LogicalBlock.BYTES,
                    learner.number(), target.round(), block.version());
            }
            contributed = true;
            from = marks.nextUnmarked(block.index(), target.round(), end, last);
        }
        return contributed;
    }

    private static boolean isOfOpenRound(IoTask task, RoundBlock block) {
        return task.round() == IoTask.IMPLIED_ROUND || task.round() == block.round();
    }

    private ParkedTask contributed(
        IoTask task, RoundBlock block, Learner learner, boolean skipped, ParkedTask woken) {
        if (!isOfOpenRound(task, block)) {
            return woken;
        }
        int index = block.block().index();
        // The round must be recorded as opened before it can close: see Membership.opened.
        learners.opened(block.round());
        int from = firstLogicalBlock(task, index);
        int end = endLogicalBlock(task, index);
        if (records != null && skipped) {
            records.pushWithoutData(index, from * LogicalBlock.BYTES, (end - from) * LogicalBlock.BYTES,
                learner.number(), block.round(), block.block().version());
        }
        if (task.isAbsent()) {
            task.addMarked(learner.marks().leaveOut(index, block.round(), from, end));
        }
        learner.mark(index, block.round(), from, end, block.logicalBlocks());
        long round = block.round();
        if (learner.marks().clock(index) != round) {
            return woken;
        }
        // The lateness is measured only with block 0, because learners push whole gradients.
        long waitNs = index == 0 ? learners.roundTimes().firstBlockPushed(round) : 0;
        ParkedTask chain = closeComplete(block, woken);
        if (block.round() > round) {
            learner.late(waitNs);
        }
        return chain;
    }

    /**
     * Closes the open round and the following rounds. Stops at the first round that a learner must still push. Adds the tasks
     * that must be resumed to the chain {@code woken}, and returns this chain.
     */
    private ParkedTask closeComplete(RoundBlock block, ParkedTask woken) {
        ParkedTask chain = woken;
        while (rules.mayClose(block)) {
            // The round is recorded as opened before it closes, so no newcomer joins at a closed round. A newcomer may have
            // joined at this round just before the record, so the rule is checked again.
            learners.opened(block.round());
            if (!rules.mayClose(block)) {
                return chain;
            }
            block.close(aggregator);
            learners.opened(rules.firstRound() - 1);
            block.skipTo(rules.firstRound());
            if (records != null) {
                records.closeRound(block.block().index(), block.round(), block.block().version());
            }
            chain = block.parked().detachBefore(chain);
        }
        return chain;
    }

    @Override
    public boolean admit(IoTask task) throws ScsiException {
        Learner learner = learners.member(task.nexus());
        boolean implied = task.round() == IoTask.IMPLIED_ROUND;
        int last = lastBlock(task);
        for (int i = firstBlock(task); i <= last; i++) {
            RoundBlock block = rounds[i];
            try (ScopedLock.Held _ = block.block().hold()) {
                // A pull with a round number waits for that round. A pull without a round number waits for the last round that
                // the learner has pushed. For a round of 0 or less, no pull waits. A pull of a round before the learner's first
                // round does not wait for a round that nobody pushes.
                long wanted = implied && learner != null ? learner.marks().clock(i) : task.round();
                boolean isEarly = learner != null && wanted < learner.joinRound();
                if (wanted >= block.round() && (!isEarly || rules.isAwaited(block, wanted))) {
                    // The pull of a newcomer waits even in a stopped job, because the newcomer can make the job continue.
                    if (!isEarly && rules.isStopped(block)) {
                        throw RoundRules.tooFew(learners);
                    }
                    parking.park(task, block.parked());
                    return false;
                }
            }
        }
        return true;
    }

    @Override
    public boolean synchronize(IoTask task) {
        Learner learner = learners.member(task.nexus());
        return learner == null || learner.pending().admit(task);
    }

    @Override
    public void forget(IoTask task) {
        int last = lastBlock(task);
        for (int i = firstBlock(task); i <= last; i++) {
            parking.forget(task, rounds[i].block(), rounds[i].parked());
        }
        Learner learner = learners.member(task.nexus());
        if (learner != null) {
            learner.pending().forgetSynchronization(task);
            learner.pending().remove(task);
        }
    }

    @Override
    public void learnersLeft() {
        Throwable failure = null;
        for (RoundBlock block : rounds) {
            ParkedTask woken = null;
            try (ScopedLock.Held _ = block.block().hold()) {
                woken = closeComplete(block, null);
                if (rules.isStopped(block) || !rules.isAwaited(block, block.round())) {
                    woken = block.parked().detachBefore(woken);
                }
            } catch (RuntimeException | Error e) {
                // The loop continues, so a failed aggregation of this block does not delay the rounds of other blocks.
                failure = e;
            }
            parking.resumeAll(woken);
        }
        switch (failure) {
            case null -> {
            }
            case Error error -> throw error;
            default -> throw (RuntimeException) failure;
        }
    }

    /** The number of pushes and pulls that wait at any block. Waiting synchronizations do not count. */
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
        return openRounds.getOpaque(block) - 1;
    }

    @Override
    public void holdAfter(long round) {
        lastRound = round;
        for (RoundBlock block : rounds) {
            ParkedTask woken;
            // A push that has read the old lastRound parks its task under this lock, so the list contains the task now.
            try (ScopedLock.Held _ = block.block().hold()) {
                woken = block.parked().detachBefore(null);
            }
            parking.resumeAll(woken);
        }
    }

    @Override
    public void record(RecordLog log) {
        records = log;
    }

    @Override
    public long recordBlock(ShardBlock block, long checkpoint) throws IOException {
        return BlockRecords.append(records, block, rounds[block.index()], learners, checkpoint);
    }

    @Override
    public void replay(RecordHeader record, Learner learner) throws DamagedRecordException {
        RoundBlock block = rounds[record.block()];
        switch (record.kind()) {
            case PUSH -> {
                if (record.round() != block.round()) {
                    throw new DamagedRecordException(record + " does not belong to the open round " + block.round());
                }
                if (!record.has(RecordHeader.WITHOUT_DATA)) {
                    block.contribute(record.offset(), record.memory(), record.bodyStart(), GradientType.FLOAT32,
                        record.rangeBytes());
                }
                if (learner != null) {
                    int from = record.offset() / LogicalBlock.BYTES;
                    learner.mark(record.block(), record.round(), from, from + record.rangeBytes() / LogicalBlock.BYTES,
                        block.logicalBlocks());
                }
            }
            case CLOSE -> {
                if (record.round() <= block.round()) {
                    throw new DamagedRecordException(record + " does not follow the open round " + block.round());
                }
                block.close(aggregator);
                block.skipTo(record.round());
            }
            default -> throw new DamagedRecordException(record + " is not a change of a round");
        }
    }

    @Override
    public void replayBlock(RecordHeader record, LongFunction<Learner> known) {
        BlockRecords.apply(record, rounds[record.block()], known);
    }

    /** Frees the memory of the sums. May be called only when no other method of this object is running. */
    @Override
    public void close() {
        if (sums != null) {
            sums.close();
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
