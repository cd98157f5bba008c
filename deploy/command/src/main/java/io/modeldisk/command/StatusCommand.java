package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.command.address.CoordinatedModel;
import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.command.options.LoginSecrets;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.StatusReader;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk status}. */
@Command(name = "status", mixinStandardHelpOptions = true,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:Every shard has answered.",
        "1:A shard did not answer this command or the mount, or no model is mounted on the directory.",
        ExitStatus.WRONG_OR_DENIED},
    description = {
        "Shows the state of every shard of a model: versions, rounds, learners, bytes pushed and pulled.",
        "With the directory of a mount, also shows the mount: the datamover and the reason for the choice, the transfer "
            + "sizes, where the time of the last iterations has gone, how the kernel provides the mapped buffers, the last "
            + "error."})
final class StatusCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STANDBY = "standby";
    private static final long WORTH_A_LINE_MS = 1000;

    @Parameters(paramLabel = ModelLocators.FORMS + "|DIR",
        description = ModelLocators.DESCRIPTION + " Or the directory of a mount.")
    private String address;

    @Option(names = "--json", fallbackValue = "true",
        description = "Print the status of the shards, or the mount's status.json, as JSON.")
    private boolean json;

    @Mixin
    private LoginSecrets secrets;

    @Override
    public Integer call() throws IOException {
        Path directory = Path.of(address);
        if (Files.isDirectory(directory)) {
            return ofMount(MountStatus.read(directory));
        }
        ModelMount.ensureAlive(directory);
        try (ShardLocator locator = ModelLocators.open(address);
            StatusReader reader = new StatusReader(new StripedModelContext(locator)
                .learner(LearnerLabel.unique("status")).sessions(secrets.session()))) {
            // The roles come from the coordinator, so they are printed even if a shard does not answer.
            ArrayNode roles = locator instanceof CoordinatedModel model ? model.describe() : null;
            if (roles != null && !json) {
                printRoles((CoordinatedModel) locator, roles);
            }
            return print(reader.readAll(), roles);
        }
    }

    /** Prints the status of the shards that have answered, and the reasons why others have not. Returns the exit status. */
    private int print(List<StatusReader.Answer> answers, ArrayNode roles) throws IOException {
        ArrayNode shards = JSON.createArrayNode();
        ModelFacts facts = null;
        for (StatusReader.Answer answer : answers) {
            if (answer.report() != null) {
                facts = facts == null ? answer.report().facts() : facts;
                shards.add(answer.report().status());
            } else if (json) {
                shards.addObject().put("shard", answer.shard()).put("error", answer.failure().getMessage());
            }
        }
        if (json) {
            printJson(withRoles(shards, roles));
        } else if (facts != null) {
            print(facts, shards);
        }
        List<StatusReader.Answer> failed = answers.stream().filter(answer -> answer.failure() != null).toList();
        failed.forEach(answer -> System.err.println("modeldisk status: " + answer.failure().getMessage()));
        return failed.stream().mapToInt(answer -> ExitStatus.of(answer.failure())).max().orElse(0);
    }

    private static JsonNode withRoles(JsonNode shards, ArrayNode roles) {
        for (int i = 0; roles != null && i < roles.size(); i++) {
            ((ObjectNode) shards.get(i)).set("coordinator", roles.get(i));
        }
        return shards;
    }

    private static void printRoles(CoordinatedModel model, ArrayNode roles) {
        line("coordinator %s%n%n%-6s %8s %-24s %s", model.servers(), "shard", "epoch", "primary", "standby");
        for (JsonNode shard : roles) {
            List<String> standbys = new ArrayList<>();
            shard.path("standbys").forEach(standby -> standbys.add(standby.asText()));
            String primary = shard.path("primary").isTextual() ? shard.path("primary").asText() : "not ready";
            line("%-6d %8d %-24s %s", shard.path("shard").asInt(),
                shard.path("epoch").asLong(),
                shard.path("alive").asBoolean() ? primary : "gone (" + primary + ")",
                standbys.isEmpty() ? "none" : String.join(", ", standbys));
        }
        System.out.println();
    }

    /** Prints the status of a mount and of its shards. Returns the exit status. */
    private int ofMount(JsonNode status) throws IOException {
        JsonNode shards = status.path("shards");
        if (json) {
            printJson(status);
        } else {
            System.out.println(MountStatus.text(status.path("mount")));
        }
        if (shards.has("error")) {
            System.err.println(
                "modeldisk status: the status of the shards is not available: " + shards.path("error").asText());
            return ExitStatus.FAILED;
        }
        if (!json) {
            print(ModelFacts.fromJson(JSON.writeValueAsBytes(status.path("model"))), shards);
        }
        return 0;
    }

    private static void printJson(JsonNode node) throws IOException {
        System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(node));
    }

    private static void print(ModelFacts facts, JsonNode shards) {
        line("model %s: %s in %s of %s on %s, %s, %s%s",
            facts.model(), ByteSize.format(facts.sizeBytes()), Plural.counted(facts.blocks(), "block"),
            ByteSize.format(facts.blockSizeBytes()),
            Plural.counted(facts.shards(), "shard"), facts.aggregator(), facts.consistency(),
            facts.consistencyMode().kind() == ConsistencyMode.Kind.ASP
                ? ""
                : ", the first round waits for " + Plural.counted(facts.learners(), "learner"));
        printPrograms(facts, shards);
        String rate = LearningRates.text(shards);
        if (rate != null) {
            line("learning rate %s%n", rate);
        }
        line("%-6s %20s %12s %12s %8s %10s", "shard", "version", "pushed", "pulled", "waiting", "uptime");
        for (JsonNode shard : shards) {
            if (isStandby(shard)) {
                line("%-6d %20s", shard.path("shard").asInt(), "not served here");
                continue;
            }
            line("%-6d %20s %12s %12s %8d %8d s", shard.path("shard").asInt(), range(shard.path("version")),
                bytes(shard, "pushedBytes"), bytes(shard, "pulledBytes"), shard.path("waiting").asInt(),
                shard.path("uptimeSeconds").asLong());
        }
        printStates(shards);
        shards.forEach(StatusCommand::printTroubles);
        if (isStandby(shards.path(0))) {
            return;
        }
        System.out.println();
        int followers = shards.path(0).path(Metric.FOLLOWERS.key()).asInt();
        if (followers > 0) {
            line("%s the model",
                followers == 1 ? "1 mount follows" : followers + " mounts follow");
        }
        if (learners(shards) == 0) {
            System.out.println("the model has no learners");
            return;
        }
        line("%-6s %-32s %-6s %14s %12s %12s  %s", "shard", "learner", "state", "clock", "pushed", "pulled", "behind");
        for (JsonNode shard : shards) {
            for (JsonNode learner : shard.path("learners")) {
                JsonNode clock = learner.path("clock");
                line("%-6d %-32s %-6s %14s %12s %12s  %s", shard.path("shard").asInt(),
                    learner.path("learner").asText(), learner.path("state").asText(),
                    clock.isObject() ? range(clock) : "-",
                    bytes(learner, "pushedBytes"), bytes(learner, "pulledBytes"),
                    learner.has("behind") ? behind(learner) : "");
            }
        }
    }

    /** Prints the versions of modeldisk that the shards run: only one version if all shards run the same. */
    private static void printPrograms(ModelFacts facts, JsonNode shards) {
        Map<String, List<String>> programs = new TreeMap<>();
        for (JsonNode shard : shards) {
            programs.computeIfAbsent(shard.path("program").asText("of an unknown version"), _ -> new ArrayList<>())
                .add(shard.path("shard").asText());
        }
        line("protocol %d, modeldisk %s%n", facts.protocol(), programs.size() == 1
            ? programs.keySet().iterator().next()
            : programs.entrySet().stream()
                .map(each -> each.getKey() + " on shard " + String.join(", ", each.getValue()))
                .collect(Collectors.joining("; ")));
    }

    /** Prints a warning if the shards have different directories in --state, because such shards never complete a checkpoint. */
    private static void printStates(JsonNode shards) {
        Map<String, List<String>> states = new TreeMap<>();
        for (JsonNode shard : shards) {
            if (shard.has("state")) {
                states.computeIfAbsent(shard.path("state").asText(), _ -> new ArrayList<>())
                    .add(shard.path("shard").asText());
            }
        }
        if (states.size() > 1) {
            line("the shards %s have different directories in --state, or only some have one, so no checkpoint is ever "
                + "complete; start all shards with one shared directory",
                states.values().stream().map(each -> String.join(", ", each)).collect(Collectors.joining(" and ")));
        }
    }

    private static boolean isStandby(JsonNode shard) {
        return shard.path("replication").path("role").asText().equals(STANDBY);
    }

    /**
     * Prints the newest checkpoint, the reasons why learners wait, and the learners whose gradients contained a NaN or an
     * infinity.
     */
    private static void printTroubles(JsonNode shard) {
        int number = shard.path("shard").asInt();
        JsonNode checkpoint = shard.path("checkpoint");
        if (number == 0 && checkpoint.path("number").asLong() > 0) {
            line("the newest checkpoint is %s of round %d, taken at %s", checkpoint.path("path").asText(),
                checkpoint.path("round").asLong(), checkpoint.path("at").asText());
        }
        printDurability(shard, number);
        if (checkpoint.has("failure")) {
            line("shard %d: the last checkpoint failed: %s", number, checkpoint.path("failure").asText());
        }
        printReplication(number, shard.path("replication"));
        if (shard.has("stopped")) {
            line("shard %d: %s", number, shard.path("stopped").asText());
        }
        for (JsonNode learner : shard.path("learners")) {
            int notFinite = learner.path(Metric.LEARNER_NON_FINITE_PUSHES.key()).asInt();
            if (notFinite > 0) {
                line("shard %d: %s of learner %s had a NaN or an infinity", number,
                    Plural.counted(notFinite, "gradient"), learner.path("learner").asText());
            }
        }
        printLate(number, shard.path("learners"));
        if (shard.path("waiting").asInt() == 0) {
            return;
        }
        if (shard.path("learnersMissing").asInt() > 0) {
            line("shard %d waits: %s must still join", number,
                Plural.counted(shard.path("learnersMissing").asInt(), "learner"));
        }
        for (JsonNode learner : shard.path("learners")) {
            if (learner.path("behind").path("waitedFor").asBoolean()) {
                line("shard %d waits for learner %s%s; the learner is behind by %s", number,
                    learner.path("learner").asText(),
                    learner.path("state").asText().equals("lost") ? ", which has lost its connection" : "",
                    behind(learner));
            }
        }
    }

    /** Prints for each learner how long rounds have waited for it, if it was the last one to push them. */
    private static void printLate(int shard, JsonNode learners) {
        StringJoiner late = new StringJoiner(", ");
        for (JsonNode learner : learners) {
            long ms = learner.path(Metric.LEARNER_LATE_MS.key()).asLong();
            if (ms >= WORTH_A_LINE_MS) {
                late.add(PlainText.format("%s %.1f s", learner.path("learner").asText(), ms / 1e3));
            }
        }
        if (late.length() > 0) {
            line("shard %d: time for which rounds waited for their last learner: %s", shard, late);
        }
    }

    private static void printDurability(JsonNode shard, int number) {
        JsonNode journal = shard.path("journal");
        JsonNode records = shard.path("records");
        if (journal.isObject()) {
            line("shard %d: durability journal: %s of %s in %s, %s; record %d of %d is on disk%s",
                number,
                bytes(journal, "bytes"), bytes(journal, "limitBytes"), journal.path("path").asText(),
                Plural.counted(journal.path("segments").asInt(), "segment"), records.path("durable").asLong(),
                records.path("appended").asLong(),
                journal.has("lastSyncMs") ? ", last sync " + journal.path("lastSyncMs").asLong() + " ms ago" : "");
        }
        if (records.has("failure")) {
            line("shard %d refuses pushes: %s", number, records.path("failure").asText());
        }
    }

    /** Prints the role of the process, and its backups. */
    private static void printReplication(int shard, JsonNode replication) {
        if (replication.path("role").asText().equals(STANDBY)) {
            line("shard %d: this process waits, and another process serves the shard in epoch %d", shard,
                replication.path("epoch").asLong());
        } else if (replication.path("role").asText().equals("backup")) {
            line("shard %d: this process is a backup, epoch %d, %s missing", shard,
                replication.path("epoch").asLong(),
                Plural.counted(replication.path("blocksMissing").asInt(), "block"));
        } else if (replication.has("backups")) {
            line("shard %d: primary of epoch %d with %s", shard, replication.path("epoch").asLong(),
                Plural.counted(replication.path("backups").size(), "backup"));
            for (JsonNode backup : replication.path("backups")) {
                line("shard %d: backup at %s %s", shard, backup.path("address").asText(), progress(backup));
            }
        }
    }

    private static String progress(JsonNode backup) {
        if (backup.has("away")) {
            return "is away: " + backup.path("away").asText();
        }
        int records = backup.path("recordsBehind").asInt();
        String behind = records == 0
            ? "has all records"
            : PlainText.format("behind by %s (%s), the oldest %d ms old", Plural.counted(records, "record"),
                bytes(backup, "bytesBehind"), backup.path("msBehind").asLong());
        return backup.path("inSync").asBoolean()
            ? "is in sync, " + behind
            : "catches up: " + Plural.counted(backup.path("blocksToSend").asInt(), "block") + " to send, " + behind;
    }

    /** Returns the number of rounds and the time by which a learner is behind. */
    private static String behind(JsonNode learner) {
        JsonNode behind = learner.path("behind");
        String rounds = Plural.counted(behind.path("rounds").asInt(), "round");
        return behind.has("ms") ? rounds + ", " + behind.path("ms").asLong() + " ms" : rounds;
    }

    private static void line(String format, Object... values) {
        System.out.println(PlainText.format(format, values));
    }

    private static String range(JsonNode values) {
        return values.path("min").asLong() + " to " + values.path("max").asLong();
    }

    private static int learners(JsonNode shards) {
        int count = 0;
        for (JsonNode shard : shards) {
            count += shard.path("learners").size();
        }
        return count;
    }

    private static String bytes(JsonNode node, String field) {
        return ByteSize.format(node.path(field).asLong());
    }
}
