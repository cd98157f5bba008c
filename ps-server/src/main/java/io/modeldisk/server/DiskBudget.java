package io.modeldisk.server;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.scsi.LogicalBlock;

/**
 * The space that a model needs in the directory of its state, which all of its shards share.
 *
 * @param checkpointBytes the size of a checkpoint of the whole model
 * @param checkpoints the number of checkpoints: those that are kept, and the one that is being written; 0 without checkpoints
 * @param journalBytes the maximum size of the journal of one shard; 0 without a journal
 * @param journals the number of journals, one for each shard
 */
public record DiskBudget(long checkpointBytes, int checkpoints, long journalBytes, int journals) {
    // The maximum overhead of a checkpoint: for each block beside its weights and state, and for each shard beside its blocks.
    private static final long CHECKPOINT_BLOCK_BYTES = 12;
    private static final long CHECKPOINT_SHARD_BYTES = 16384;

    /** Returns the space that a model needs. {@link ServerContext#conclude} must have been called. */
    public static DiskBudget of(ServerContext context) {
        ModelFacts facts = context.facts();
        if (context.checkpoints == null) {
            return new DiskBudget(0, 0, 0, 0);
        }
        long model = facts.sizeBytes();
        long state = Math.ceilDiv(model, LogicalBlock.BYTES) * context.aggregator.stateBytesPerLogicalBlock();
        return new DiskBudget(
            model + state + facts.blocks() * CHECKPOINT_BLOCK_BYTES + facts.shards() * CHECKPOINT_SHARD_BYTES,
            context.checkpoints.keep() + 1,
            context.journal == null ? 0 : context.journal.maxBytes(facts.bytesOfShard()),
            context.journal == null ? 0 : facts.shards());
    }

    /** The space for all checkpoints and journals. */
    public long bytes() {
        return checkpoints * checkpointBytes + journals * journalBytes;
    }
}
