package io.modeldisk.mount;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.ExchangeCounters;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.WeightsInUse;
import io.modeldisk.mount.file.ModelFile;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Puts together what status.json says. Thread-safe. */
final class StatusReport {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ObjectWriter JSON = MAPPER.writerWithDefaultPrettyPrinter();

    private final MountContext context;
    private final Exchange exchange;
    private final ModelFile modelFile;
    private final Instant mountedAt = Instant.now();

    StatusReport(MountContext context, Exchange exchange, ModelFile modelFile) {
        this.context = context;
        this.exchange = exchange;
        this.modelFile = modelFile;
    }

    /** The report as it is now: JSON in UTF-8, also when shards do not answer. */
    byte[] text() {
        RemoteModel model = context.remoteModel();
        ObjectNode report = MAPPER.createObjectNode();
        report.set("mount", mount());
        report.set("model", MAPPER.valueToTree(model.facts()));
        try {
            report.set("shards", model.status());
        } catch (IOException e) {
            report.putObject("shards").put("error", String.valueOf(e.getMessage()));
        }
        try {
            return (JSON.writeValueAsString(report) + "\n").getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a status that JSON cannot hold: " + report, e);
        }
    }

    private ObjectNode mount() {
        ExchangeCounters counters = exchange.counters();
        ObjectNode mount = MAPPER.createObjectNode()
            .put("dir", context.directory().toString())
            .put("exchange", context.exchange().schemeName())
            .put("learner", context.learner())
            .put("datamover", context.datamover())
            .put("training", modelFile.hasLearner())
            .put("mountedAt", mountedAt.toString())
            .put("uptimeSeconds", Duration.between(mountedAt, Instant.now()).toSeconds())
            .put("iterations", counters.iterations())
            .put("pushedBytes", counters.pushedBytes())
            .put("pulledBytes", counters.pulledBytes())
            .put("lastPushMs", counters.lastPushMs())
            .put("lastPullMs", counters.lastPullMs())
            .put("lastFsyncMs", counters.lastSynchronizeMs())
            .put("pushGbPerSecond", counters.pushGbPerSecond())
            .put("pullGbPerSecond", counters.pullGbPerSecond())
            .put("lastError", counters.lastError());
        context.tuning().forEach((datamover, sizes) -> putSizes(mount.withObject("/tuning/" + datamover), sizes));
        if (context.exchange() != ExchangeScheme.DIRECT) {
            mount.set("iteration", iteration(counters));
        }
        exchange.forecast().ifPresent(forecast -> mount.set("expected", expected(forecast)));
        return mount;
    }

    private static void putSizes(ObjectNode node, List<TunedSize> sizes) {
        for (TunedSize size : sizes) {
            node.putObject(size.name()).put("value", size.value()).put("origin", size.origin());
        }
    }

    /** How the last iteration went, and all of them. */
    private ObjectNode iteration(ExchangeCounters counters) {
        WeightsInUse weights = exchange.weightsInUse();
        ObjectNode node = MAPPER.createObjectNode()
            .put("stallMs", counters.lastStallMs())
            .put("totalStallMs", counters.stallMs())
            .put("weightsAgeMs", weights.ageMs())
            .put("meanWeightsAgeMs", counters.meanAgeMs());
        if (context.exchange() == ExchangeScheme.OVERLAP) {
            node.put("weightsVersion", weights.version())
                .put("bubbleMs", counters.lastBubbleMs())
                .put("meanBubbleMs", counters.meanBubbleMs());
            // A staleness that is not known is left out.
            if (!Double.isNaN(counters.lastStaleness())) {
                node.put("stalenessRounds", counters.lastStaleness())
                    .put("meanStalenessRounds", counters.meanStaleness());
            }
        }
        return node;
    }

    private ObjectNode expected(PullScheduler.Forecast forecast) {
        return MAPPER.createObjectNode()
            .put("pull", context.pull().policyName())
            .put("computationMs", forecast.computationMs())
            .put("pushMs", forecast.pushMs())
            .put("pullMs", forecast.pullMs())
            .put("marginMs", forecast.marginMs())
            .put("duplex", forecast.isDuplex());
    }
}
