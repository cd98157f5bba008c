package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.util.Objects;

/** Checks that the shards of an address are one model's, all of them, in their order. */
final class ShardCheck {
    private ShardCheck() {}

    static void check(ModelAddress address, int place, ModelFacts facts, ModelFacts first) throws IOException {
        String where = ModelAddress.text(address.shards().get(place));
        int given = address.shards().size();
        int block = facts.blockSizeBytes();
        if (facts.sizeBytes() <= 0 || block < 4096 || Integer.bitCount(block) != 1) {
            throw new IOException(where + " is no shard of modeldisk: it serves a model of " + facts.sizeBytes()
                + " bytes in blocks of " + block);
        }
        if (facts.protocol() < ModelFacts.PROTOCOL) {
            throw new IOException(where + " speaks modeldisk's protocol " + facts.protocol() + ", this program needs "
                + ModelFacts.PROTOCOL + ": update `modeldisk serve` there");
        }
        if (facts.shards() != given) {
            throw new IOException(
                where + " is one of " + facts.shards() + " shards of model " + facts.model() + ", but "
                    + given + (given == 1 ? " address was" : " addresses were") + " given: name every shard, in order");
        }
        if (facts.shard() != place) {
            throw new IOException(where + " is shard " + facts.shard() + ", but stands in place " + place
                + ": name the shards in order, from 0");
        }
        same(where, "size", facts.sizeBytes(), first.sizeBytes());
        same(where, "block size", facts.blockSizeBytes(), first.blockSizeBytes());
        same(where, "source", facts.source(), first.source());
        same(where, "aggregator", facts.aggregator(), first.aggregator());
        same(where, "consistency", facts.consistency(), first.consistency());
        same(where, "number of learners", facts.learners(), first.learners());
        same(where, "least number of learners", facts.minLearners(), first.minLearners());
    }

    private static void same(String where, String what, Object here, Object first) throws IOException {
        if (!Objects.equals(here, first)) {
            throw new IOException(
                where + " serves a different model: its " + what + " is " + here + ", shard 0's is " + first);
        }
    }
}
