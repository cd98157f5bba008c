package io.modeldisk.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.fault.membership.Member;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.consistency.LearnerProgress;
import io.modeldisk.server.consistency.RoundTimes;
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
        Roster<Nexus, LearnerProgress> roster = shard.membership().roster();
        List<Member<Nexus, LearnerProgress>> members = roster.members();
        int shown = members.size();
        byte[] json = encode(roster, shown);
        while (json.length > MAX_BYTES) {
            shown /= 2;
            json = encode(roster, shown);
        }
        return json;
    }

    private byte[] encode(Roster<Nexus, LearnerProgress> roster, int shown) {
        List<Member<Nexus, LearnerProgress>> members = roster.members();
        ObjectNode status = JSON.createObjectNode();
        ModelFacts facts = shard.facts();
        status.put("model", facts.model());
        status.put("shard", facts.shard());
        status.put("shards", facts.shards());
        status.put("consistency", facts.consistency());
        status.put("aggregator", facts.aggregator());
        putBlocks(status, members, shown);
        status.put("formed", roster.formed());
        if (!roster.formed()) {
            status.put("learnersMissing", facts.learners() - members.size());
        }
        if (roster.tooFew()) {
            status.put("stopped", shard.stopWords(roster));
        }
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

    private void putBlocks(ObjectNode status, List<Member<Nexus, LearnerProgress>> members, int shown) {
        Extent version = new Extent();
        Extent rounds = new Extent();
        List<LearnerClock> clocks = members.stream().map(LearnerClock::new).toList();
        for (int i = 0; i < shard.store().layout().blocks(); i++) {
            Block block = shard.store().block(i);
            block.lock();
            try {
                version.add(block.version());
                long closed = shard.consistency().rounds(i);
                if (closed >= 0) {
                    rounds.add(closed);
                }
                LearnerClock.look(clocks, i);
            } finally {
                block.unlock();
            }
        }
        version.put(status.putObject("version")).put("total", version.total());
        if (rounds.isKnown()) {
            rounds.put(status.putObject("rounds"));
        }
        ArrayNode learners = status.putArray("learners");
        long now = nanoClock.getAsLong();
        clocks.subList(0, shown).forEach(clock -> putLearner(learners.addObject(), clock, now));
    }

    private void putLearner(ObjectNode learner, LearnerClock clock, long now) {
        Member<Nexus, LearnerProgress> member = clock.member();
        LearnerProgress progress = member.progress();
        learner.put("learner", member.key().learner());
        learner.put("state", member.isLost() ? "lost" : "live");
        learner.put("joinRound", member.joinRound());
        boolean counted = clock.hasRounds() || shard.consistency().allowance() < Long.MAX_VALUE;
        if (counted) {
            clock.extent().put(learner.putObject("clock"));
        }
        if (counted && clock.roundsBehind() > 0) {
            ObjectNode behind = learner.putObject("behind").put("rounds", clock.roundsBehind());
            long since = shard.roundTimes().since(clock.missingRound());
            if (since != RoundTimes.UNKNOWN) {
                behind.put("ms", TimeUnit.NANOSECONDS.toMillis(now - since));
            }
            behind.put("waitedFor", clock.roundsBehind() > shard.consistency().allowance());
        }
        learner.put("pushes", progress.pushes());
        learner.put("pushedBytes", progress.pushedBytes());
        learner.put("pulledBytes", progress.pulledBytes());
    }
}
