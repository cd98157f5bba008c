package io.modeldisk.docs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.metrics.Metric;
import io.modeldisk.platform.metrics.Metric.Kind;
import io.modeldisk.platform.metrics.Metric.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Generates deploy/metrics/dashboard.json, a dashboard for Grafana: some metrics at a glance, and then every declared metric.
 */
final class Dashboard {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int COLUMNS = 24;
    private static final int WIDTH = 8;
    private static final int HEIGHT = 7;
    private static final String OF_MODEL = "{model=\"$model\"}";
    private static final String RATE = "[$__rate_interval]";

    /** The scopes with their titles and the labels that tell the series of a panel apart. */
    private static final Map<Scope, Row> ROWS = Map.of(
        Scope.BUILD, new Row("Versions", "{{instance}}"),
        Scope.PROCESS, new Row("Processes", "{{instance}}"),
        Scope.MODEL, new Row("Model", "{{instance}}"),
        Scope.SHARD, new Row("Shards", "shard {{shard}} at {{instance}}"),
        Scope.BACKUP, new Row("Backups", "shard {{shard}}, {{backup}}"),
        Scope.LEARNER, new Row("Learners, as the shards see them", "{{learner}}, shard {{shard}}"),
        Scope.MOUNT, new Row("Mounts", "{{learner}}"),
        Scope.ITERATION, new Row("Iterations of mounts", "{{learner}}"),
        Scope.FORECAST, new Row("Forecasts of mounts", "{{learner}}"));

    private record Row(String title, String legend) {}

    private final ArrayNode panels = JSON.createArrayNode();
    private int x;
    private int y;
    private int lineHeight;
    private int ids;

    private Dashboard() {}

    /** Returns the text of deploy/metrics/dashboard.json. */
    static String text() {
        Dashboard dashboard = new Dashboard();
        dashboard.glance();
        Stream.of(Scope.values()).forEach(dashboard::scope);
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(dashboard.json()) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private ObjectNode json() {
        ObjectNode board = JSON.createObjectNode().put("uid", "modeldisk").put("title", "modeldisk")
            .put("description", "Generated from the declarations of the metrics. docs/reference.md describes them.")
            .put("schemaVersion", 39).put("version", 1).put("editable", true).put("graphTooltip", 1)
            .put("refresh", "30s");
        board.putArray("tags").add("modeldisk");
        board.putObject("time").put("from", "now-1h").put("to", "now");
        ArrayNode variables = board.putObject("templating").putArray("list");
        variables.addObject().put("name", "datasource").put("label", "Prometheus").put("type", "datasource")
            .put("query", "prometheus");
        ObjectNode model = variables.addObject().put("name", "model").put("label", "Model").put("type", "query")
            .put("query", "label_values(" + Metric.SHARDS.prometheusName() + ", model)").put("refresh", 2)
            .put("sort", 1);
        model.set("datasource", datasource());
        board.set("panels", panels);
        return board;
    }

    /** The metrics that an operator looks at first. */
    private void glance() {
        row("At a glance", panels, false);
        String serving = Metric.SERVING.prometheusName() + OF_MODEL;
        add(panels, "Shards that are served", "Of how many, and how many are.", "short",
            target("count(max by (shard) (" + serving + ") == 1) or vector(0)", "served"),
            target("max(" + Metric.SHARDS.prometheusName() + OF_MODEL + ")", "of"));
        add(panels, "Updates of blocks", "Of all shards.", "cps",
            target("sum(max by (shard) (" + rate(Metric.UPDATES) + "))", "updates"));
        add(panels, "Throughput", "Gradients and weights of all shards.", "Bps",
            target(sumOfRate(Metric.PUSHED_BYTES), "pushed"), target(sumOfRate(Metric.PULLED_BYTES), "pulled"));
        add(panels, "Learners behind", Metric.LEARNER_BEHIND_MS.description(), "s",
            target("max by (learner) (" + Metric.LEARNER_BEHIND_MS.prometheusName() + OF_MODEL + ")", "{{learner}}"));
        add(panels, "Iterations", Metric.ITERATIONS.description(), "cps",
            target(rate(Metric.ITERATIONS), "{{learner}}"));
        add(panels, "Stall", "The part of the time that learners wait in fsync.", "percentunit",
            target(rate(Metric.STALL_MS), "{{learner}}"));
        add(panels, "Bubble", "The part of the time by which the pull scheduler delays pulls.", "percentunit",
            target(rate(Metric.BUBBLE_MS), "{{learner}}"));
        add(panels, "Staleness", Metric.STALENESS_ROUNDS.description(), "short",
            target(Metric.STALENESS_ROUNDS.prometheusName() + OF_MODEL, "{{learner}}"));
        add(panels, "Commands that wait", Metric.WAITING.description(), "short",
            target(Metric.WAITING.prometheusName() + OF_MODEL, "shard {{shard}}"));
        add(panels, "Age of the newest checkpoint", Metric.CHECKPOINT_AGE.description(), "s",
            target("min(" + Metric.CHECKPOINT_AGE.prometheusName() + OF_MODEL + ")", "age"));
        add(panels, "Backups behind", Metric.BACKUP_BEHIND_MS.description(), "s",
            target(Metric.BACKUP_BEHIND_MS.prometheusName() + OF_MODEL, "shard {{shard}}, {{backup}}"));
        add(panels, "Memory left", Metric.AVAILABLE_BYTES.description(), "bytes",
            target(ofProcess(Metric.AVAILABLE_BYTES), "{{instance}}"));
    }

    /** All metrics of a scope, in a row that is closed at first. */
    private void scope(Scope scope) {
        List<Metric> all = Stream.of(Metric.values()).filter(metric -> metric.scope() == scope).toList();
        ArrayNode inside = row(ROWS.get(scope).title(), panels, true);
        List<Metric> texts = all.stream().filter(metric -> metric.kind() == Kind.TEXT).toList();
        if (!texts.isEmpty()) {
            String words = texts.stream().map(text -> text.label() + ": " + text.description())
                .collect(Collectors.joining(". ", "", "."));
            ObjectNode target = target(scope == Scope.BUILD ? ofProcess(texts.getFirst()) : scope.infoName() + OF_MODEL,
                "");
            target.put("format", "table").put("instant", true);
            add(inside, scope.infoName(), words, "short", target).put("type", "table");
        }
        for (Metric metric : all) {
            if (metric.kind() != Kind.TEXT) {
                String expression = metric.kind() == Kind.COUNTER
                    ? rate(metric)
                    : scope == Scope.PROCESS ? ofProcess(metric) : metric.prometheusName() + OF_MODEL;
                add(inside, metric.prometheusName(), metric.description(), unit(metric),
                    target(expression, ROWS.get(scope).legend()));
            }
        }
    }

    private static String unit(Metric metric) {
        boolean counter = metric.kind() == Kind.COUNTER;
        return switch (metric.unit()) {
            case BYTES -> counter ? "Bps" : "bytes";
            case GB_PER_SECOND -> "Bps";
            case MILLISECONDS, SECONDS -> counter ? "percentunit" : "s";
            default -> counter ? "cps" : "short";
        };
    }

    private static String rate(Metric metric) {
        return "rate(" + metric.prometheusName() + OF_MODEL + RATE + ")";
    }

    private static String sumOfRate(Metric metric) {
        return "sum(" + rate(metric) + ")";
    }

    /** The metrics of a process have no label for the model. */
    private static String ofProcess(Metric metric) {
        return metric.prometheusName() + " and on (instance, job) " + Metric.SHARDS.prometheusName() + OF_MODEL;
    }

    /** Begins a row. Returns the array to which its panels are added. */
    private ArrayNode row(String title, ArrayNode to, boolean collapsed) {
        endLine();
        ObjectNode row = panel(to, "row", title, COLUMNS, 1).put("collapsed", collapsed);
        endLine();
        return collapsed ? row.putArray("panels") : to;
    }

    private ObjectNode add(ArrayNode to, String title, String description, String unit, ObjectNode... targets) {
        ObjectNode panel = panel(to, "timeseries", title, WIDTH, HEIGHT).put("description", description);
        panel.set("datasource", datasource());
        panel.putObject("fieldConfig").putArray("overrides");
        panel.withObjectProperty("fieldConfig").putObject("defaults").put("unit", unit).put("min", 0);
        ArrayNode all = panel.putArray("targets");
        for (int i = 0; i < targets.length; i++) {
            all.add(targets[i].put("refId", String.valueOf((char) ('A' + i))));
        }
        return panel;
    }

    private ObjectNode panel(ArrayNode to, String type, String title, int width, int height) {
        if (x + width > COLUMNS) {
            endLine();
        }
        ObjectNode panel = to.addObject().put("id", ++ids).put("type", type).put("title", title);
        panel.putObject("gridPos").put("x", x).put("y", y).put("w", width).put("h", height);
        x += width;
        lineHeight = height;
        return panel;
    }

    private void endLine() {
        y += x == 0 ? 0 : lineHeight;
        x = 0;
    }

    private static ObjectNode target(String expression, String legend) {
        ObjectNode target = JSON.createObjectNode().put("expr", expression).put("legendFormat", legend);
        target.set("datasource", datasource());
        return target;
    }

    private static ObjectNode datasource() {
        return JSON.createObjectNode().put("type", "prometheus").put("uid", "${datasource}");
    }

    /** Returns all expressions of the dashboard, with values instead of the variables of Grafana. */
    static List<String> expressions(String json) throws JsonProcessingException {
        List<String> all = new ArrayList<>();
        JSON.readTree(json).findValues("expr")
            .forEach(
                expression -> all.add(expression.asText().replace("$__rate_interval", "5m").replace("$model", "m")));
        return all;
    }
}
