package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;

/**
 * Which rounds the parts of one call are of, and what is told to the learner's ledger when they end. For the train unit; the
 * parts of other calls have none. Guarded by its {@link Transfer}; reused for one call after another.
 */
final class PartRounds {
    private final PushLedger.Grant grant = new PushLedger.Grant();
    private PushLedger ledger;
    private boolean pushes;
    private long start;
    private long logicalBlocks;
    /** Which logical blocks of a push the shards have. */
    private BitRanges taken = new BitRanges(0);

    /** Begins a call; {@code account} is null for who is no learner. */
    void begin(Transfer.Direction direction, long offset, long bytes, PushLedger account) {
        ledger = direction.lun() == 0 ? account : null;
        pushes = direction == Transfer.Direction.PUSH;
        start = offset;
        logicalBlocks = bytes / LogicalBlock.BYTES;
        if (pushes && taken.size() < logicalBlocks) {
            taken = new BitRanges(logicalBlocks);
        } else if (pushes) {
            taken.clear();
        }
    }

    /**
     * Settles which round a part is of.
     *
     * @return how many bytes of it are of that round; 0 if it has to wait for one
     * @throws IOException if its shard has forgotten what became of it
     */
    int settle(Part part, int shard) throws IOException {
        if (ledger == null) {
            return part.bytes;
        }
        int epoch = ledger.epoch(shard);
        if (part.granted && part.epoch == epoch) {
            return part.bytes;
        }
        if (part.granted && !pushes) {
            // There is nothing left that it must see.
            part.round = 0;
            part.epoch = epoch;
            return part.bytes;
        }
        if (part.granted && part.doubtful) {
            throw new IOException(
                "shard " + shard + " has forgotten this learner, whose lease has ended, or was started"
                    + " again: the push at byte " + (start + part.offset) + " was on its way, and may count or not");
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

    /** The round of a part; 0 for who is no learner and may pull any. */
    long of(Part part) {
        return ledger == null ? 0 : part.round;
    }

    /** A part has ended, and its shard has it or not. */
    void ended(Part part, boolean shardHasIt) {
        if (!pushes || !part.granted) {
            return;
        }
        ledger.ended(first(part), end(part), part.epoch, shardHasIt);
        if (shardHasIt) {
            taken.set(first(part) - first(), end(part) - first());
        }
    }

    /** The call has failed: called again, it is the same push, also of what the shards have. */
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
