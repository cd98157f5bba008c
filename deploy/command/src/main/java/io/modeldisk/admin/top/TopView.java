package io.modeldisk.admin.top;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.admin.overview.Series;
import io.modeldisk.admin.top.Line.Style;
import io.modeldisk.platform.text.PeerText;
import io.modeldisk.platform.text.PlainText;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.function.ToDoubleFunction;

/** An overview as lines of text. Immutable. */
public final class TopView {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final String BARS = "▁▂▃▄▅▆▇█";
    private static final String ASCII_BARS = "_.-=+*%#";
    /** The number of samples in a chart, one in each column. */
    public static final int CHART_COLUMNS = 60;
    private static final int CHART_LABEL = 22;

    private final JsonNode model;
    private final JsonNode history;
    private final boolean unicode;

    /**
     * Creates the text of an overview.
     *
     * @param overview the overview
     * @param history the samples for the charts
     * @param unicode whether the terminal can show characters that are not ASCII
     */
    public TopView(JsonNode overview, JsonNode history, boolean unicode) {
        this.model = overview;
        this.history = history;
        this.unicode = unicode;
    }

    /** Returns the names of the columns of {@link #row}. */
    public static String rowHeads() {
        return PlainText.format("%8s %7s %8s %12s %10s %14s %14s %8s %10s %10s %10s %10s %7s", "time", "shards",
            "learners",
            "version", "updates/s", "pushed", "pulled", "waiting", "behind", "stall", "bubble", "staleness", "faults");
    }

    /** Returns the overview as one line, for scripts and logs. */
    public String row() {
        return PlainText.format("%8s %7s %8d %12s %10s %14s %14s %8s %10s %10s %10s %10s %7d", time(), answering(),
            model.path("learners").size(), version(), Values.number(last(Series.UPDATES)),
            Values.rate(last(Series.PUSHED)),
            Values.rate(last(Series.PULLED)), Values.number(last(Series.WAITING)), Values.ms(last(Series.BEHIND)),
            Values.ms(last(Series.STALL)), Values.ms(last(Series.BUBBLE)), Values.number(last(Series.STALENESS)),
            model.path("faults").size());
    }

    /** Returns the overview as lines of at most this width. */
    public List<String> plain(int columns) {
        return lines().stream().map(line -> line.plain(columns)).toList();
    }

    /** Returns the overview with escape sequences, for a terminal of this size. */
    public List<String> styled(int columns, int rows) {
        List<Line> all = lines();
        List<Line> shown = new ArrayList<>(all.subList(0, Math.min(rows, all.size())));
        if (all.size() > rows && rows > 0) {
            shown.set(rows - 1,
                new Line(Style.QUIET, all.size() - rows + 1 + " more lines: make the terminal taller"));
        }
        return shown.stream().map(line -> line.styled(columns)).toList();
    }

    private List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        addHead(lines);
        for (JsonNode fault : model.path("faults")) {
            boolean error = fault.path("severity").asText().equals("error");
            lines.add(new Line(error ? Style.ERROR : Style.WARNING,
                (error ? "error: " : "warning: ") + PeerText.printable(fault.path("text").asText())));
        }
        for (JsonNode wait : model.path("waits")) {
            lines.add(new Line(Style.WARNING, wait(wait)));
        }
        lines.add(new Line(Style.PLAIN, ""));
        lines.addAll(learners().lines());
        lines.add(new Line(Style.PLAIN, ""));
        lines.addAll(shards().lines());
        lines.add(new Line(Style.PLAIN, ""));
        addCharts(lines);
        addMount(lines);
        for (JsonNode note : model.path("notes")) {
            lines.add(new Line(Style.QUIET, PeerText.printable(note.asText())));
        }
        return lines;
    }

    private void addHead(List<Line> lines) {
        JsonNode facts = model.path("model");
        lines.add(new Line(Style.BOLD, facts.isObject()
            ? PlainText.format("%s  %s in %d blocks of %s, %s, %s  %s",
                PeerText.printable(facts.path("model").asText()),
                Values.bytes(facts.path("sizeBytes")), facts.path("blocks").asLong(),
                Values.bytes(facts.path("blockSizeBytes")), PeerText.printable(facts.path("aggregator").asText()),
                PeerText.printable(facts.path("consistency").asText()), time())
            : "no shard has answered yet  " + time()));
        JsonNode checkpoint = model.path("shards").path(0).path("checkpoint");
        lines.add(new Line(Style.PLAIN,
            PlainText.format("%s shards answer, %d learners, version %s, %s updates/s", answering(),
                model.path("learners").size(), version(), Values.number(last(Series.UPDATES)))));
        lines.add(new Line(Style.PLAIN,
            PlainText.format("pushed %s, pulled %s, %s commands wait", Values.rate(last(Series.PUSHED)),
                Values.rate(last(Series.PULLED)),
                Values.number(last(Series.WAITING)))));
        lines.add(new Line(Style.PLAIN, checkpoint.path("number").asLong() > 0
            ? PlainText.format("last checkpoint: number %d, round %d, %s ago", checkpoint.path("number").asLong(),
                checkpoint.path("round").asLong(), Values.duration(checkpoint.path("ageSeconds")))
            : "last checkpoint: none"));
    }

    private String time() {
        return TIME.format(Instant.ofEpochMilli(model.path("at").asLong()).atZone(ZoneId.systemDefault()));
    }

    private String answering() {
        return model.at("/totals/answering").asLong() + "/" + model.path("shards").size();
    }

    private String version() {
        return Values.number(model.at("/totals/version/min"));
    }

    private JsonNode last(Series series) {
        JsonNode values = history.path(series.key());
        return values.path(values.size() - 1);
    }

    private static String wait(JsonNode wait) {
        StringJoiner names = new StringJoiner(", ");
        wait.path("learners").forEach(name -> names.add(PeerText.printable(name.asText())));
        int more = wait.path("more").asInt();
        return PlainText.format("waits: %s%s for %s%s: %s, %s", names.length() == 0 ? "a learner" : names,
            more == 0 ? "" : " and " + more + " more", PeerText.printable(wait.path("for").asText()),
            wait.path("lost").asBoolean() ? ", which has lost its connection" : "", Values.rounds(wait.path("rounds")),
            Values.ms(wait.path("ms")));
    }

    private Table learners() {
        Table table = new Table("LEARNER", "STATE", "CLOCK", "ROUNDS/S", "BEHIND", "PUSHED", "PULLED", "WAITS");
        for (JsonNode learner : model.path("learners")) {
            boolean lost = learner.path("state").asText().equals("lost");
            JsonNode behind = learner.path("behind");
            table.add(lost ? Style.ERROR : Style.PLAIN, learner.path("learner").asText(),
                learner.path("state").asText(),
                Values.range(learner.path("clock")), Values.number(learner.path("roundRate")),
                behind.isObject()
                    ? Values.rounds(behind.path("rounds")) + ", " + Values.ms(behind.path("ms"))
                    : "-",
                Values.bytes(learner.path("pushedBytes")), Values.bytes(learner.path("pulledBytes")),
                waits(learner));
        }
        return table;
    }

    private static String waits(JsonNode learner) {
        if (learner.path("waitedFor").asBoolean()) {
            return "waited for";
        }
        StringJoiner others = new StringJoiner(", ");
        learner.path("waitsFor").forEach(other -> others.add(other.asText()));
        return others.length() == 0 ? "-" : "for " + others;
    }

    private Table shards() {
        Table table = new Table("SHARD", "ROLE", "VERSIONS", "UPDATES/S", "PUSHED", "PULLED", "WAITING", "SAVED", "UP",
            "OTHER PROCESSES");
        for (JsonNode shard : model.path("shards")) {
            boolean silent = shard.has("failure");
            table.add(silent ? Style.ERROR : Style.PLAIN, shard.path("shard").asText(),
                silent ? "silent for " + Values.duration(shard.path("silentSeconds")) : role(shard),
                Values.range(shard.path("version")), Values.number(shard.path("updateRate")),
                Values.rate(shard.path("pushRate")), Values.rate(shard.path("pullRate")),
                Values.number(shard.path("waiting")),
                shard.path("durability").asText("-"), Values.duration(shard.path("uptimeSeconds")), others(shard));
        }
        return table;
    }

    private static String role(JsonNode shard) {
        if (!shard.path("answers").asBoolean()) {
            return shard.path("watched").asBoolean() ? "not read yet" : "not watched";
        }
        JsonNode epoch = shard.path("replication").path("epoch").isNumber()
            ? shard.path("replication").path("epoch")
            : shard.path("coordinator").path("epoch");
        return shard.path("replication").path("role").asText("primary")
            + (epoch.isNumber() ? ", epoch " + epoch.asLong() : "");
    }

    private static String others(JsonNode shard) {
        StringJoiner others = new StringJoiner(", ");
        List<String> backups = new ArrayList<>();
        for (JsonNode backup : shard.path("replication").path("backups")) {
            backups.add(backup.path("address").asText());
            others.add("backup " + backup.path("address").asText()
                + (backup.has("away") ? " away" : backup.path("inSync").asBoolean() ? " in sync" : " catches up"));
        }
        for (JsonNode standby : shard.path("coordinator").path("standbys")) {
            if (!backups.contains(standby.asText())) {
                others.add("standby " + standby.asText());
            }
        }
        return others.length() == 0 ? "-" : others.toString();
    }

    private void addCharts(List<Line> lines) {
        addChart(lines, "pushed", Series.PUSHED, Values::rate);
        addChart(lines, "pulled", Series.PULLED, Values::rate);
        addChart(lines, "updates/s", Series.UPDATES, Values::number);
        addChart(lines, "slowest behind", Series.BEHIND, Values::ms);
        addChart(lines, "stall", Series.STALL, Values::ms);
        addChart(lines, "bubble", Series.BUBBLE, Values::ms);
        addChart(lines, "staleness", Series.STALENESS, Values::rounds);
    }

    /** A value as text. */
    private interface Format {
        String of(JsonNode value);
    }

    private void addChart(List<Line> lines, String title, Series series, Format format) {
        JsonNode values = history.path(series.key());
        int first = Math.max(0, values.size() - CHART_COLUMNS);
        ToDoubleFunction<JsonNode> size = value -> value.isNumber() ? value.asDouble() : 0;
        double top = 0;
        boolean known = false;
        for (int i = first; i < values.size(); i++) {
            top = Math.max(top, size.applyAsDouble(values.get(i)));
            known |= values.get(i).isNumber();
        }
        if (!known) {
            return;
        }
        String levels = unicode ? BARS : ASCII_BARS;
        StringBuilder bars = new StringBuilder();
        for (int i = first; i < values.size(); i++) {
            int level = top == 0 ? 0 : (int) (size.applyAsDouble(values.get(i)) / top * (levels.length() - 1));
            bars.append(values.get(i).isNumber() ? levels.charAt(level) : ' ');
        }
        String label = title + " " + format.of(values.get(values.size() - 1));
        lines.add(new Line(Style.PLAIN, label + " ".repeat(Math.max(1, CHART_LABEL + 6 - label.length())) + bars));
    }

    private void addMount(List<Line> lines) {
        JsonNode mount = model.path("mount");
        if (mount.isObject()) {
            lines.add(new Line(Style.PLAIN, ""));
            lines.add(new Line(Style.PLAIN,
                PeerText
                    .printable(PlainText.format(
                        "mount %s: %s %s, exchange %s, dtype %s, iterations %d, last fsync %s, push %s, pull %s",
                        mount.path("dir").asText(),
                        mount.path("follower").asBoolean() ? "follower" : "learner",
                        mount.path("learner").asText(), mount.path("exchange").asText(),
                        mount.path("dtype").asText(),
                        mount.path("iterations").asLong(), Values.ms(mount.path("lastFsyncMs")),
                        Values.ms(mount.path("lastPushMs")), Values.ms(mount.path("lastPullMs"))))));
        }
    }
}
