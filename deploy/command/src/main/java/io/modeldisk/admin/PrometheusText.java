package io.modeldisk.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.Metric.Kind;
import io.modeldisk.protocol.dialect.Metric.Scope;
import io.modeldisk.protocol.dialect.StatusJson;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The metrics of a process in the text format of Prometheus. The metrics of {@link Metric} get their values from the status of
 * the process at each request. Micrometer adds metrics of the Java runtime. The series of a learner or a backup is removed after
 * the learner or the backup has left. Thread-safe.
 */
final class PrometheusText implements AutoCloseable {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    /** A series: a metric with its labels. */
    private record Series(String name, Tags labels) {}

    /** The current value of a series. */
    private static final class Value {
        private double number;
        private boolean present;
        private Meter meter;

        private double number() {
            return number;
        }
    }

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    private final Map<Series, Value> values = new HashMap<>();

    PrometheusText() {
        // These metrics would break rules of Prometheus: the first has a unit that is not a base unit, the second a name that
        // ends with _count.
        registry.config().meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"))
            .meterFilter(MeterFilter.denyNameStartsWith("system.cpu.count"));
        collections.bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ClassLoaderMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /** Returns the metrics as text, with the values of a {@linkplain AdminServer status}. */
    synchronized byte[] of(JsonNode status) {
        values.values().forEach(value -> value.present = false);
        add(Scope.BUILD, status.path(Scope.BUILD.path()), Tags.empty());
        add(Scope.PROCESS, status.path(Scope.PROCESS.path()), Tags.empty());
        Tags model = Tags.of("model", status.path("model").path("model").asText());
        add(Scope.MODEL, status.path(Scope.MODEL.path()), model);
        if (status.has(Scope.MOUNT.path())) {
            JsonNode mount = status.path(Scope.MOUNT.path());
            Tags learner = model.and("learner", mount.path("learner").asText());
            add(Scope.MOUNT, mount, learner);
            add(Scope.ITERATION, mount.path("iteration"), learner);
            add(Scope.FORECAST, mount.path("expected"), learner);
        } else if (status.path("shards").isArray()) {
            // The metrics of a mount do not include its shards, because each shard reports its metrics at its own admin server.
            status.path("shards").forEach(shard -> addShard(shard, model.and("shard", shard.path("shard").asText())));
        }
        values.values().stream().filter(value -> !value.present).forEach(value -> registry.remove(value.meter));
        values.values().removeIf(value -> !value.present);
        return registry.scrape().getBytes(StandardCharsets.UTF_8);
    }

    private void addShard(JsonNode shard, Tags place) {
        add(Scope.SHARD, shard, place);
        shard.path("replication").path("backups")
            .forEach(backup -> add(Scope.BACKUP, backup, place.and("backup", backup.path("address").asText())));
        shard.path("learners")
            .forEach(learner -> add(Scope.LEARNER, learner, place.and("learner", learner.path("learner").asText())));
    }

    private void add(Scope scope, JsonNode object, Tags labels) {
        if (object.isMissingNode()) {
            return;
        }
        for (Metric metric : metrics(scope, false)) {
            JsonNode node = StatusJson.get(object, metric);
            if (metric.kind() == Kind.FLAG) {
                set(metric, metric.prometheusName(), labels, node.asBoolean() || node.isTextual() ? 1 : 0);
            } else if (node.isNumber()) {
                set(metric, metric.prometheusName(), labels, node.asDouble() * metric.unit().baseUnits());
            }
        }
        List<Metric> texts = metrics(scope, true);
        if (!texts.isEmpty()) {
            List<String> pairs = new ArrayList<>();
            for (Metric text : texts) {
                pairs.addAll(List.of(text.label(), StatusJson.get(object, text).asText()));
            }
            set(texts.getFirst(), scope.infoName(), labels.and(pairs.toArray(String[]::new)), 1);
        }
    }

    private static List<Metric> metrics(Scope scope, boolean texts) {
        return Stream.of(Metric.values())
            .filter(metric -> metric.scope() == scope && (metric.kind() == Kind.TEXT) == texts).toList();
    }

    private void set(Metric metric, String name, Tags labels, double number) {
        Value value = values.computeIfAbsent(new Series(name, labels), series -> register(metric, series));
        value.number = number;
        value.present = true;
    }

    private Value register(Metric metric, Series series) {
        Value value = new Value();
        // Names have dots in Micrometer, and Micrometer itself appends _total to the name of a counter.
        String name = series.name().replaceFirst("_total$", "").replace('_', '.');
        value.meter = metric.kind() == Kind.COUNTER
            ? FunctionCounter.builder(name, value, Value::number).tags(series.labels())
                .description(metric.description())
                .register(registry)
            : Gauge.builder(name, value, Value::number).tags(series.labels()).description(description(metric))
                .register(registry);
        return value;
    }

    private static String description(Metric metric) {
        return metric.kind() == Kind.TEXT ? "texts of the status" : metric.description();
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
