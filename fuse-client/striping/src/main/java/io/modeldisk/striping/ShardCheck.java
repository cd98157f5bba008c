package io.modeldisk.striping;

import io.modeldisk.platform.text.Plural;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.Objects;

/** Checks that the target at an address is the expected shard of the expected model. */
final class ShardCheck {
    /** The maximum size of a shard, because PUSH and PULL carry a logical block address of 32 bits. */
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
        boolean plausible = facts.sizeBytes() > 0 && block >= MIN_BLOCK_BYTES && Integer.bitCount(block) == 1;
        if (plausible || facts.protocol() > 0) {
            checkProtocol(shard, facts);
        }
        if (!plausible) {
            throw wrong(shard, where + " is not a shard of modeldisk: the target reports a model of "
                + facts.sizeBytes() + " bytes with blocks of " + block + " bytes");
        }
        if (facts.shards() != shards) {
            throw wrong(shard,
                where + " is one of " + Plural.counted(facts.shards(), "shard") + " of model " + facts.model()
                    + ", but "
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
        Difference other = difference(facts, first);
        if (other != null) {
            throw wrong(shard, where + " serves a different model: its " + other.what + " is " + other.here
                + ", but at shard 0 it is " + other.first);
        }
    }

    /** Checks the version of the protocol. In another version, the other facts and the commands can have another meaning. */
    private static void checkProtocol(ShardId shard, ModelFacts facts) throws ShardException {
        String obstacle = facts.protocolObstacle(shard.address());
        if (obstacle != null) {
            throw wrong(shard, obstacle);
        }
    }

    /** Checks that a shard has a train unit for this value type. */
    static void offers(ShardId shard, ModelFacts facts, ValueType type) throws ShardException {
        try {
            facts.as(type);
        } catch (IllegalArgumentException e) {
            throw new ShardException(ShardException.Kind.REFUSED, shard, shard.address() + ": " + e.getMessage());
        }
    }

    /** Checks that a shard uses the same directory for checkpoints as shard 0. Otherwise, no checkpoint would be complete. */
    static void sharesState(ShardId shard, ModelFacts facts, ModelFacts first) throws ShardException {
        if (facts.state() == null || first.state() == null || facts.state().equals(first.state())) {
            return;
        }
        String difference = facts.state().equals(ModelFacts.NO_STATE)
            ? "has no --state, but shard 0 has one"
            : first.state().equals(ModelFacts.NO_STATE)
                ? "has a --state, but shard 0 has none"
                : "has a different --state directory than shard 0";
        throw wrong(shard,
            "shard " + shard.index() + " at " + shard.address() + " " + difference + "; stop all shards of model "
                + facts.model()
                + ", and start them with one shared directory, such as one on NFS, as --state, or all without");
    }

    /**
     * Checks the facts of a shard to which this process connects again.
     *
     * @param before the facts of shard 0 when this process connected for the first time
     * @throws ShardException {@link ShardException.Kind#MODEL_CHANGED} if the shard was restarted with another model of this
     *     name; otherwise as in {@link #check}
     */
    static void checkAgain(ShardId shard, ModelFacts facts, ModelFacts before, int shards) throws ShardException {
        checkProtocol(shard, facts);
        Difference change = difference(facts, before);
        if (facts.model().equals(before.model()) && facts.shard() == shard.index() && change != null) {
            throw new ShardException(ShardException.Kind.MODEL_CHANGED, shard, shard.address()
                + " was restarted with another model of the name " + facts.model() + ": its " + change.what + " is "
                + change.here + ", but it was " + change.first + " when this process connected; unmount the model"
                + " and mount it again");
        }
        check(shard, facts, before, shards);
    }

    /** A fact of a shard that differs from the fact with which it is compared. */
    private record Difference(String what, Object here, Object first) {}

    /** Returns the first fact that differs although it must be the same on all shards; null if no such fact differs. */
    private static Difference difference(ModelFacts facts, ModelFacts first) {
        Difference[] all = {
            new Difference("name", facts.model(), first.model()),
            new Difference("size", facts.sizeBytes(), first.sizeBytes()),
            new Difference("block size", facts.blockSizeBytes(), first.blockSizeBytes()),
            new Difference("number of shards", facts.shards(), first.shards()),
            new Difference("source of the initial weights", facts.source(), first.source()),
            new Difference("aggregator", facts.aggregator(), first.aggregator()),
            new Difference("policy for NaN and infinity", facts.nonFinite(), first.nonFinite()),
            new Difference("consistency", facts.consistency(), first.consistency()),
            new Difference("number of learners", facts.learners(), first.learners()),
            new Difference("minimum number of learners", facts.minLearners(), first.minLearners())};
        for (Difference each : all) {
            if (!Objects.equals(each.here, each.first)) {
                return each;
            }
        }
        return null;
    }

    private static ShardException wrong(ShardId shard, String message) {
        return new ShardException(ShardException.Kind.WRONG_SHARD, shard, message);
    }
}
