package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;

/**
 * The rounds of the parts of one call, and the report to the learner's ledger when they end. For the train unit; parts of other
 * calls have no round. Guarded by its {@link StripedTransfer}; reused for one call after another.
 */
final class PartRounds {
    private final PushLedger.Grant grant = new PushLedger.Grant();
    private PushLedger ledger;
    private boolean pushes;
    private long start;
    private long logicalBlocks;
    /** The logical blocks of a push that the shards have. */
    private BitRanges taken = new BitRanges(0);

    /** Begins a call; {@code account} is null for a call that is not a learner's. */
    void begin(Direction direction, long offset, long bytes, PushLedger account) {
        ledger = direction.lun() == 0 ? account : null;
        pushes = direction == Direction.PUSH;
        start = offset;
        logicalBlocks = bytes / LogicalBlock.BYTES;
        if (pushes && taken.size() < logicalBlocks) {
            taken = new BitRanges(logicalBlocks);
        } else if (pushes) {
            taken.clear();
        }
    }

    /**
     * Settles the round of a part.
     *
     * @return how many bytes of it are of that round; 0 if the round can begin only after an earlier push of the block
     * @throws ShardException if its shard has forgotten the learner while the part was in flight
     */
    int settle(Part part, int shard, ShardId id) throws ShardException {
        if (ledger == null) {
            return part.bytes;
        }
        if (part.granted) {
            int epoch = ledger.epoch(shard);
            if (part.epoch == epoch) {
                return part.bytes;
            }
            if (!pushes) {
                // The new membership has pushed nothing that this pull must see.
                part.round = 0;
                part.epoch = epoch;
                return part.bytes;
            }
            if (part.doubtful) {
                throw new ShardException(ShardException.Kind.LEARNER_FORGOTTEN, id, id
                    + " has forgotten this learner (its lease has ended, or the shard was restarted): the push at byte "
                    + (start + part.offset) + " was in flight, and may count or not");
            }
        }
        if (pushes) {
            part.granted = false;
            ledger.push(first(part), end(part), grant);
        } else {
            ledger.pull(first(part), end(part), grant);
        }
        part.granted = grant.logicalBlocks() > 0;
        part.round = grant.round();
        part.epoch = grant.epoch();
        return Math.toIntExact(grant.logicalBlocks() * LogicalBlock.BYTES);
    }

    /** The round of a part; 0, any round, for a call that is not a learner's. */
    long of(Part part) {
        return ledger == null ? 0 : part.round;
    }

    /** A part has ended: the shard has its data, or not. */
    void ended(Part part, boolean shardHasIt) {
        if (!pushes || !part.granted) {
            return;
        }
        ledger.ended(first(part), end(part), part.epoch, shardHasIt);
        if (shardHasIt) {
            taken.set(first(part) - first(), end(part) - first());
        }
    }

    /** The call has failed: a repeated call is the same push, also of the logical blocks that the shards have. */
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
