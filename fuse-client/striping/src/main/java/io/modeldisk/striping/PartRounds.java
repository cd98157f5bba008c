package io.modeldisk.striping;

import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.concurrent.TimeUnit;

/**
 * Assigns a round to each {@link Part} of a pull or a push. Records in the learner's ledger whether the shard has the data of
 * each part of a push. The parts of reads and writes have no round. A {@link StripedTransfer} uses one object for all its calls.
 */
final class PartRounds {
    private final PushLedger.Grant grant = new PushLedger.Grant();
    private PushLedger ledger;
    private int begun;
    private boolean pushes;
    private long start;
    private long logicalBlocks;
    /** The logical blocks that the shards have received during the current push. Bit 0 is the first logical block of the push. */
    private BitRanges taken = new BitRanges(0);

    /**
     * Begins a call.
     *
     * @param account the learner's ledger; null for a call that does not belong to a learner
     * @throws ShardException if the gradient was abandoned, and the learner has not called {@link LearnerSessions#goOn} since
     */
    void begin(Direction direction, long offset, long bytes, PushLedger account) throws ShardException {
        ledger = direction.trains() ? account : null;
        begun = ledger == null ? 0 : ledger.beginCall();
        pushes = direction.pushes();
        start = offset;
        logicalBlocks = bytes / LogicalBlock.BYTES;
        if (pushes && taken.size() < logicalBlocks) {
            taken = new BitRanges(logicalBlocks);
        } else if (pushes) {
            taken.clear();
        }
    }

    /**
     * Sets the round of a part.
     *
     * @return the number of bytes of the part that belong to this round; 0 if the part must wait for an earlier push of its block
     * @throws ShardException if the shard forgot the learner while the part was in flight, or the gradient was abandoned
     */
    int settle(Part part, int shard, ShardId id) throws ShardException {
        if (ledger == null) {
            return part.bytes;
        }
        ledger.checkNotAbandoned(begun);
        if (part.granted) {
            int epoch = ledger.epoch(shard);
            if (part.epoch == epoch) {
                return part.bytes;
            }
            if (!pushes) {
                // In the new membership, the learner has pushed nothing that the weights must include.
                part.round = ledger.leastPullRound(shard);
                part.epoch = epoch;
                return part.bytes;
            }
            if (part.doubtful && ledger.mayHave(shard, part.round)) {
                throw forgotten(id, "the push at byte " + (start + part.offset)
                    + " was in flight and may count once or not at all");
            }
        }
        if (pushes) {
            if (ledger.isDoubtful(shard)) {
                throw forgotten(id, "a push to it had failed and may count once or not at all");
            }
            part.granted = false;
            part.doubtful = false;
            ledger.push(first(part), end(part), grant);
        } else {
            ledger.pull(first(part), end(part), grant);
        }
        part.granted = grant.logicalBlocks > 0;
        part.round = grant.round;
        part.epoch = grant.epoch;
        return Math.toIntExact(grant.logicalBlocks * LogicalBlock.BYTES);
    }

    /** Returns the exception for a shard that has forgotten the learner. {@code push} describes what happened to the gradient. */
    static ShardException forgotten(ShardId id, String push) {
        return new ShardException(ShardException.Kind.LEARNER_FORGOTTEN, id, id
            + " has forgotten this learner (its lease has expired, or the shard was restarted); " + push);
    }

    /** Returns the exception for a call that has waited for {@code waitNs} without success for the rounds of other learners. */
    static ShardException roundTimeout(ShardId shard, long waitNs) {
        return new ShardException(ShardException.Kind.ROUND_TIMEOUT, shard, shard + ": the call waited for a round that"
            + " other learners did not push within " + TimeUnit.NANOSECONDS.toSeconds(waitNs)
            + " s; `modeldisk status` names these learners");
    }

    /** Returns the round of a part; 0 (any round) for a call that does not belong to a learner. */
    long of(Part part) {
        return ledger == null ? 0 : part.round;
    }

    /** Records that a part was moved or has failed. {@code shardHasIt} is true if the shard has the data of the part. */
    void ended(Part part, boolean shardHasIt) {
        if (!pushes || !part.granted) {
            return;
        }
        ledger.ended(first(part), end(part), part.epoch, shardHasIt);
        if (shardHasIt) {
            taken.set(first(part) - first(), end(part) - first());
        } else if (part.doubtful) {
            ledger.endedInDoubt(first(part), part.epoch, part.round);
        }
    }

    /**
     * Records that the call has failed. If the caller repeats the call, each logical block is pushed in the same round as before,
     * so a shard that already has the gradient of a logical block does not count this gradient twice.
     */
    void failed() {
        if (!pushes) {
            return;
        }
        long from = taken.nextSet(0, logicalBlocks);
        while (from < logicalBlocks) {
            long stop = taken.nextClear(from, logicalBlocks);
            ledger.repeat(first() + from, first() + stop);
            from = taken.nextSet(stop, logicalBlocks);
        }
    }

    private long first() {
        return start / LogicalBlock.BYTES;
    }

    private long first(Part part) {
        return (start + part.offset) / LogicalBlock.BYTES;
    }

    private long end(Part part) {
        return first(part) + part.bytes / LogicalBlock.BYTES;
    }
}
