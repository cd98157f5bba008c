package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.Objects;

/** Checks that the target at an address is the expected shard of the expected model. */
final class ShardCheck {
    /** The maximum size of a shard. PUSH and PULL carry a logical block address of 32 bits. */
    static final long MAX_SHARD_BYTES = (1L << 32) * LogicalBlock.BYTES;

    private static final int MIN_BLOCK_BYTES = LogicalBlock.BYTES;

    private ShardCheck() {}

    /**
     * Checks the facts of one shard.
     *
     * @param shard the address of the target, and the number of the shard that is expected at this address
     * @param facts the facts that the target has reported
     * @param first the facts that shard 0 has reported
     * @param shards the number of shards that the model must have
     * @throws ShardException if the target is another shard, belongs to another model, or is not a shard of modeldisk
     */
    static void check(ShardId shard, ModelFacts facts, ModelFacts first, int shards) throws ShardException {
        String where = shard.address();
        int block = facts.blockSizeBytes();
        if (facts.sizeBytes() <= 0 || block < MIN_BLOCK_BYTES || Integer.bitCount(block) != 1) {
            throw wrong(shard, where + " is not a shard of modeldisk: the target reports a model of "
                + facts.sizeBytes() + " bytes with blocks of " + block + " bytes");
        }
        if (facts.protocol() < ModelFacts.PROTOCOL) {
            throw wrong(shard, where + " uses modeldisk protocol " + facts.protocol() + ", but this program needs"
                + " protocol " + ModelFacts.PROTOCOL + "; update `modeldisk serve` there");
        }
        if (facts.shards() != shards) {
            throw wrong(shard,
                where + " is one of " + facts.shards() + " shards of model " + facts.model() + ", but "
                    + shards + (shards == 1 ? " address was" : " addresses were")
                    + " given; give the address of every shard, in order");
        }
        if (facts.shard() != shard.index()) {
            throw wrong(shard,
                where + " serves shard " + facts.shard() + " of model " + facts.model() + ", but shard "
                    + shard.index() + " was expected; give the addresses of the shards in order, from shard 0");
        }
        if (facts.bytesOfShard() > MAX_SHARD_BYTES) {
            throw new ShardException(ShardException.Kind.REFUSED, shard, where + " serves a shard of "
                + facts.bytesOfShard() + " bytes, but the maximum is " + MAX_SHARD_BYTES
                + " bytes (16 TiB); serve the model with more shards");
        }
        same(shard, "name", facts.model(), first.model());
        same(shard, "size", facts.sizeBytes(), first.sizeBytes());
        same(shard, "block size", facts.blockSizeBytes(), first.blockSizeBytes());
        same(shard, "source of the initial weights", facts.source(), first.source());
        same(shard, "aggregator", facts.aggregator(), first.aggregator());
        same(shard, "policy for NaN and infinity", facts.nonFinite(), first.nonFinite());
        same(shard, "consistency", facts.consistency(), first.consistency());
        same(shard, "number of learners", facts.learners(), first.learners());
        same(shard, "minimum number of learners", facts.minLearners(), first.minLearners());
    }

    /** Checks that the shards have a train unit of this type. */
    static void offers(ShardId shard, ModelFacts facts, ValueType type) throws ShardException {
        try {
            facts.as(type);
        } catch (IllegalArgumentException e) {
            throw new ShardException(ShardException.Kind.REFUSED, shard, shard.address() + ": " + e.getMessage());
        }
    }

    private static void same(ShardId shard, String what, Object here, Object first) throws ShardException {
        if (!Objects.equals(here, first)) {
            throw wrong(shard,
                shard.address() + " serves a different model: its " + what + " is " + here + ", but at shard 0 it is "
                    + first);
        }
    }

    private static ShardException wrong(ShardId shard, String message) {
        return new ShardException(ShardException.Kind.WRONG_SHARD, shard, message);
    }
}
