package io.modeldisk.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.fault.membership.Member;
import io.modeldisk.protocol.striping.ModelFacts;
import io.modeldisk.protocol.target.Nexus;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.consistency.LearnerProgress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The status page: how far the shard's blocks and learners are. Each block is looked at under its own lock, one by one. */
final class ShardStatus {
    /** The most bytes the page may have; learners are left out to keep to it, and counted. */
    static final int MAX_BYTES = 65_000;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ShardModel shard;
    private final LongSupplier nanoClock;
    private final long startNanos;

    ShardStatus(ShardModel shard, LongSupplier nanoClock) {
        this.shard = shard;
        this.nanoClock = nanoClock;
        this.startNanos = nanoClock.getAsLong();
    }

    byte[] toJson() {
        List<Member<Nexus, LearnerProgress>> members = shard.membership().roster().members();
        int shown = members.size();
        byte[] json = encode(members, shown);
        while (json.length > MAX_BYTES) {
            shown /= 2;
            json = encode(members, shown);
        }
        return json;
    }

    private byte[] encode(List<Member<Nexus, LearnerProgress>> members, int shown) {
        ObjectNode status = JSON.createObjectNode();
        ModelFacts facts = shard.facts();
        status.put("model", facts.model());
        status.put("shard", facts.shard());
        status.put("shards", facts.shards());
        status.put("consistency", facts.consistency());
        status.put("aggregator", facts.aggregator());
        putBlocks(status, members.subList(0, shown));
        status.put("formed", shard.membership().roster().formed());
        if (shown < members.size()) {
            status.put("learnersLeftOut", members.size() - shown);
        }
        status.put("waiting", shard.consistency().waiting());
        status.put("pushes", shard.traffic().pushes());
        status.put("pulls", shard.traffic().pulls());
        status.put("pushedBytes", shard.traffic().pushedBytes());
        status.put("pulledBytes", shard.traffic().pulledBytes());
        status.put("uptimeSeconds", TimeUnit.NANOSECONDS.toSeconds(nanoClock.getAsLong() - startNanos));
        try {
            return JSON.writeValueAsBytes(status);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a status that JSON cannot hold: " + status, e);
        }
    }

    private void putBlocks(ObjectNode status, List<Member<Nexus, LearnerProgress>> members) {
        Extent version = new Extent();
        Extent rounds = new Extent();
        List<Extent> clocks = members.stream().map(member -> new Extent()).toList();
        boolean hasRounds = false;
        for (int i = 0; i < shard.store().layout().blocks(); i++) {
            Block block = shard.store().block(i);
            block.lock();
            try {
                version.add(block.version());
                hasRounds = shard.consistency().rounds(i) >= 0;
                if (hasRounds) {
                    rounds.add(shard.consistency().rounds(i));
                    for (int m = 0; m < members.size(); m++) {
                        clocks.get(m).add(members.get(m).progress().marks().clock(i));
                    }
                }
            } finally {
                block.unlock();
            }
        }
        version.put(status.putObject("version")).put("total", version.total());
        if (hasRounds) {
            rounds.put(status.putObject("rounds"));
        }
        ArrayNode learners = status.putArray("learners");
        for (int m = 0; m < members.size(); m++) {
            putLearner(learners.addObject(), members.get(m), hasRounds ? clocks.get(m) : null);
        }
    }

    private static void putLearner(ObjectNode learner, Member<Nexus, LearnerProgress> member, Extent clock) {
        LearnerProgress progress = member.progress();
        learner.put("learner", member.key().learner());
        learner.put("state", member.isLost() ? "lost" : "live");
        learner.put("joinRound", member.joinRound());
        if (clock != null) {
            clock.put(learner.putObject("clock"));
        }
        learner.put("pushes", progress.pushes());
        learner.put("pushedBytes", progress.pushedBytes());
        learner.put("pulledBytes", progress.pulledBytes());
    }

    /** The least, the greatest and the sum of some values. */
    private static final class Extent {
        private long min = Long.MAX_VALUE;
        private long max = Long.MIN_VALUE;
        private long total;

        void add(long value) {
            min = Math.min(min, value);
            max = Math.max(max, value);
            total += value;
        }

        long total() {
            return total;
        }

        ObjectNode put(ObjectNode node) {
            return node.put("min", min).put("max", max);
        }
    }
}
