package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.metrics.Metric;
import io.modeldisk.protocol.dialect.StatusJson;
import java.util.ArrayList;
import java.util.List;

/** A learner as all shards see it. Not thread-safe. */
final class LearnerView {
    private final String label;
    private final RateWindow rounds = new RateWindow();
    private boolean lost;
    private boolean hasClock;
    private long clockMin;
    private long clockMax;
    private long behindRounds;
    private long behindMs;
    private long pushedBytes;
    private long pulledBytes;
    private long nonFinitePushes;
    /** The shards that have this learner, and of these the shards that wait for it. */
    private final List<Integer> shards = new ArrayList<>();
    private final List<Integer> waiting = new ArrayList<>();
    /** The learners for which this learner waits. */
    private final List<String> waitsFor = new ArrayList<>();

    LearnerView(String label) {
        this.label = label;
        reset();
    }

    /** Forgets what the shards have said. Keeps the rate. */
    void reset() {
        lost = false;
        hasClock = false;
        clockMin = Long.MAX_VALUE;
        clockMax = 0;
        behindRounds = 0;
        behindMs = 0;
        pushedBytes = 0;
        pulledBytes = 0;
        nonFinitePushes = 0;
        shards.clear();
        waiting.clear();
        waitsFor.clear();
    }

    /** Adds what one shard says about the learner. */
    void add(int shard, JsonNode learner) {
        shards.add(shard);
        lost |= learner.path("state").asText().equals("lost");
        if (learner.path("clock").isObject()) {
            hasClock = true;
            clockMin = Math.min(clockMin, StatusJson.get(learner, Metric.LEARNER_CLOCK_MIN).asLong());
            clockMax = Math.max(clockMax, StatusJson.get(learner, Metric.LEARNER_CLOCK_MAX).asLong());
        }
        behindRounds = Math.max(behindRounds, StatusJson.get(learner, Metric.LEARNER_BEHIND_ROUNDS).asLong());
        behindMs = Math.max(behindMs, StatusJson.get(learner, Metric.LEARNER_BEHIND_MS).asLong());
        if (learner.path("behind").path("waitedFor").asBoolean()) {
            waiting.add(shard);
        }
        pushedBytes += StatusJson.get(learner, Metric.LEARNER_PUSHED_BYTES).asLong();
        pulledBytes += StatusJson.get(learner, Metric.LEARNER_PULLED_BYTES).asLong();
        nonFinitePushes += StatusJson.get(learner, Metric.LEARNER_NON_FINITE_PUSHES).asLong();
    }

    void sample(long nowNs) {
        if (hasClock) {
            rounds.add(nowNs, clockMin);
        }
    }

    String label() {
        return label;
    }

    boolean isPresent() {
        return !shards.isEmpty();
    }

    boolean isLost() {
        return lost;
    }

    boolean isWaitedFor() {
        return !waiting.isEmpty();
    }

    long clockMin() {
        return hasClock ? clockMin : 0;
    }

    long clockMax() {
        return clockMax;
    }

    long behindRounds() {
        return behindRounds;
    }

    long behindMs() {
        return behindMs;
    }

    long nonFinitePushes() {
        return nonFinitePushes;
    }

    /** Returns the shards on which others wait for this learner. */
    List<Integer> waitingShards() {
        return waiting;
    }

    void waitsFor(String slow) {
        waitsFor.add(slow);
    }

    double roundsPerSecond() {
        return rounds.perSecond();
    }

    void put(ObjectNode json) {
        json.put("learner", label);
        json.put("state", lost ? "lost" : "live");
        ArrayNode known = json.putArray("shards");
        shards.forEach(known::add);
        if (hasClock) {
            json.putObject("clock").put("min", clockMin).put("max", clockMax);
        }
        if (behindRounds > 0) {
            json.putObject("behind").put("rounds", behindRounds).put("ms", behindMs);
        }
        json.put("waitedFor", isWaitedFor());
        ArrayNode slow = json.putArray("waitsFor");
        waitsFor.forEach(slow::add);
        json.put("pushedBytes", pushedBytes);
        json.put("pulledBytes", pulledBytes);
        Overview.put(json, "roundRate", rounds.perSecond());
    }
}
