package io.modeldisk.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.Metric;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Finds out from the status of the shards for which learner this mount's learner waits. Thread-safe. */
final class Stragglers {
    /** The answer if no other learner is there to wait for. */
    static final String SHARDS = "the shards";
    /** The answer if it is not known which learner is the last one. */
    static final String OTHERS = "other learners";

    /** The lateness of a learner is its increase since an earlier status, which is at least this old. */
    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(20);

    private final String self;
    private final NanoClock clock;
    private String awaited = OTHERS;
    private Map<String, Long> baseMs = Map.of();
    private Map<String, Long> latestMs = Map.of();
    private long latestNs;

    Stragglers(String self, NanoClock clock) {
        this.self = self;
        this.clock = clock;
        this.latestNs = clock.nanoTime();
    }

    /** Returns the result of the last {@link #look}. */
    synchronized String awaited() {
        return awaited;
    }

    /** Reads the status of the shards, which has an element for each shard. */
    synchronized void look(JsonNode shards) {
        Map<String, Long> lateMs = new HashMap<>();
        String now = null;
        long behindMs = -1;
        int others = 0;
        for (JsonNode shard : shards) {
            for (JsonNode learner : shard.path("learners")) {
                String name = learner.path("learner").asText();
                if (name.equals(self)) {
                    continue;
                }
                others++;
                lateMs.merge(name, learner.path(Metric.LEARNER_LATE_MS.key()).asLong(), Math::max);
                JsonNode behind = learner.path(Metric.LEARNER_WAITED_FOR.group());
                long ms = behind.path(Metric.LEARNER_BEHIND_MS.key()).asLong();
                if (behind.path(Metric.LEARNER_WAITED_FOR.key()).asBoolean() && ms > behindMs) {
                    behindMs = ms;
                    now = name;
                }
            }
        }
        if (clock.nanoTime() - latestNs > PERIOD_NS || latestMs.isEmpty()) {
            baseMs = latestMs;
            latestMs = lateMs;
            latestNs = clock.nanoTime();
        }
        String last = now != null ? now : latest(lateMs);
        awaited = last != null ? "learner " + last : others > 0 ? OTHERS : SHARDS;
    }

    /** Returns the learner that was late for the longest time recently; null if none was late. */
    private String latest(Map<String, Long> lateMs) {
        String latest = null;
        long mostMs = 0;
        for (Map.Entry<String, Long> each : lateMs.entrySet()) {
            long ms = each.getValue() - Math.min(each.getValue(), baseMs.getOrDefault(each.getKey(), 0L));
            if (ms > mostMs) {
                mostMs = ms;
                latest = each.getKey();
            }
        }
        return latest;
    }
}
