package io.modeldisk.mount;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.exchange.Dropped;
import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.ExchangeCounters;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.RecentIterations;
import io.modeldisk.mount.exchange.WeightsInUse;
import io.modeldisk.mount.file.ModelUse;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.ValueType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Generates the text of status.json. Thread-safe. */
final class StatusReport {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ObjectWriter JSON = MAPPER.writerWithDefaultPrettyPrinter();

    private final MountContext context;
    private final Exchange exchange;
    private final ModelUse use;
    private final Instant mountedAt = Instant.now();
    private final Stragglers stragglers;
    private volatile String memoryFiles = "";

    StatusReport(MountContext context, Exchange exchange, ModelUse use) {
        this.context = context;
        this.exchange = exchange;
        this.use = use;
        this.stragglers = new Stragglers(context.remoteModel.learner(), NanoClock.SYSTEM);
    }

    /**
     * Sets the text that describes how processes access files whose content is memory; see {@link
     * io.modeldisk.mount.fuse.FuseSession#memoryFiles}.
     */
    void memoryFiles(String way) {
        memoryFiles = way;
    }

    /**
     * Returns the part of the status that needs no shard.
     *
     * @param shards the last known status of the shards, to find the learner that others wait for; null if it is not known
     */
    ObjectNode withoutShards(JsonNode shards) {
        if (shards != null && shards.isArray()) {
            stragglers.look(shards);
        }
        ObjectNode report = MAPPER.createObjectNode();
        report.set("mount", mount());
        report.set("model", MAPPER.valueToTree(context.remoteModel.facts()));
        return report;
    }

    /** Returns the current status as JSON in UTF-8. If a shard does not respond, its error replaces the status of all shards. */
    byte[] text() {
        JsonNode shards;
        try {
            shards = context.remoteModel.status();
        } catch (IOException e) {
            shards = MAPPER.createObjectNode().put("error", String.valueOf(e.getMessage()));
        }
        ObjectNode report = withoutShards(shards).set("shards", shards);
        try {
            return (JSON.writeValueAsString(report) + "\n").getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the status cannot be written as JSON: " + report, e);
        }
    }

    private ObjectNode mount() {
        ExchangeCounters counters = exchange.counters();
        ObjectNode mount = MAPPER.createObjectNode()
            .put("dir", context.directory.toString())
            .put(Metric.EXCHANGE.key(), context.exchange.toString())
            .put(Metric.DTYPE.key(), context.remoteModel.dtype().toString())
            .put("learner", context.remoteModel.learner())
            .put("datamover", context.datamover)
            .put("access", context.access.toString())
            .put("binding", context.binding.name())
            .put("program", ProgramVersion.TEXT)
            .put("mapped", context.exchange == ExchangeScheme.DIRECT ? "none (exchange direct)" : memoryFiles)
            .put(Metric.FOLLOWER.key(), context.remoteModel.follows())
            .put(Metric.MOUNT_BUFFERS_BYTES.key(), context.exchange.bufferBytes(context.remoteModel.trainBytes()))
            .put(Metric.TRAINING.key(), use.hasLearner())
            .put("mountedAt", mountedAt.toString())
            .put(Metric.MOUNT_UPTIME.key(), Duration.between(mountedAt, Instant.now()).toSeconds())
            .put(Metric.ITERATIONS.key(), counters.iterations.sum())
            .put(Metric.MOUNT_PUSHED_BYTES.key(), counters.pushedBytes.sum())
            .put(Metric.MOUNT_PULLED_BYTES.key(), counters.pulledBytes.sum())
            .put(Metric.LAST_PUSH_MS.key(), counters.pushes.last())
            .put(Metric.LAST_PULL_MS.key(), counters.pulls.last())
            .put(Metric.LAST_FSYNC_MS.key(), counters.fsyncs.last())
            .put(Metric.PUSH_MS.key(), counters.pushes.sum())
            .put(Metric.PULL_MS.key(), counters.pulls.sum())
            .put(Metric.PUSH_RATE.key(), counters.pushGbPerSecond())
            .put(Metric.PULL_RATE.key(), counters.pullGbPerSecond())
            .put(Metric.ROLLBACKS.key(), counters.rollbacks.sum())
            .put(Metric.ROUNDS_TAKEN_BACK.key(), counters.roundsTakenBack.sum())
            .put(Metric.FAILURES.key(), counters.failures.sum())
            .put("lastError", counters.lastError());
        Dropped dropped = counters.lastDropped();
        if (dropped != Dropped.NOTHING) {
            mount.putObject("dropped").put("iteration", dropped.iteration())
                .put("acceptedBytes", dropped.acceptedBytes())
                .put("leftOutBytes", dropped.leftOutBytes()).put("discardedBytes", dropped.discardedBytes());
        }
        context.tuning.forEach((datamover, sizes) -> putSizes(mount.withObject("/tuning/" + datamover), sizes));
        if (context.exchange != ExchangeScheme.DIRECT) {
            mount.set("iteration", iteration(counters));
            if (use.hasLearner()) {
                mount.put("bottleneck", bottleneck(counters.recent).text());
            }
        }
        exchange.forecast().ifPresent(forecast -> mount.set("expected", expected(forecast)));
        return mount;
    }

    private Bottleneck bottleneck(RecentIterations recent) {
        return new Bottleneck(recent.sum(), recent.fsyncNs(NanoClock.SYSTEM.nanoTime()), stragglers.awaited(),
            context.exchange, context.remoteModel.dtype() == ValueType.FLOAT32, !context.datamover.startsWith("shm"));
    }

    private static void putSizes(ObjectNode node, List<TunedSize> sizes) {
        for (TunedSize size : sizes) {
            node.putObject(size.name()).put("value", size.value()).put("origin", size.origin());
        }
    }

    /** Returns the measurements of the last iteration, and the means over all iterations. */
    private ObjectNode iteration(ExchangeCounters counters) {
        WeightsInUse weights = exchange.weightsInUse();
        ObjectNode node = MAPPER.createObjectNode()
            .put(Metric.LAST_STALL_MS.key(), counters.stalls.last())
            .put(Metric.STALL_MS.key(), counters.stalls.sum())
            .put(Metric.WEIGHTS_AGE_MS.key(), weights.ageMs())
            .put(Metric.MEAN_WEIGHTS_AGE_MS.key(), counters.ages.mean());
        if (context.exchange == ExchangeScheme.OVERLAP) {
            node.put(Metric.WEIGHTS_VERSION.key(), weights.version())
                .put(Metric.LAST_BUBBLE_MS.key(), counters.bubbles.last())
                .put(Metric.BUBBLE_MS.key(), counters.bubbles.sum())
                .put(Metric.MEAN_BUBBLE_MS.key(), counters.bubbles.mean());
            if (!counters.staleness.isEmpty()) {
                node.put(Metric.STALENESS_ROUNDS.key(), counters.staleness.last())
                    .put(Metric.MEAN_STALENESS_ROUNDS.key(), counters.staleness.mean());
            }
        }
        return node;
    }

    private ObjectNode expected(PullScheduler.Forecast forecast) {
        return MAPPER.createObjectNode()
            .put("pull", context.pull.toString())
            .put(Metric.EXPECTED_COMPUTATION_MS.key(), forecast.computationMs())
            .put(Metric.EXPECTED_PUSH_MS.key(), forecast.pushMs())
            .put(Metric.EXPECTED_PULL_MS.key(), forecast.pullMs())
            .put(Metric.EXPECTED_MARGIN_MS.key(), forecast.marginMs())
            .put("duplex", forecast.isDuplex());
    }
}
