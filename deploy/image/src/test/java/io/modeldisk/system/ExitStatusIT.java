package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.command.Main;
import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Runs at least one case for each row of the table "Exit statuses" in docs/reference.md. */
@Timeout(180)
final class ExitStatusIT {
    /**
     * Cases that need no mount. Each line has the expected status and the arguments. A word with {@code =} before the command
     * is an environment variable. Cases with a variable, and those of {@code bench}, run in a new process, all others in this
     * one.
     */
    private static final List<String> CASES = """
        1 | serve --model m --size 1MiB --listen BUSY
        1 | serve --model m --size 1MiB --listen unknown.invalid:3260
        1 | serve --model m --size 1MiB --coordinator 127.0.0.1:1 --listen 127.0.0.1:0
        2 | serve --model m --listen 127.0.0.1:0
        2 | serve --model m --size 1MiB --from weights.safetensors
        2 | serve --model m --from missing.safetensors
        2 | serve --model m --size 1MiB --secrets missing
        2 | serve --model m --size 1MiB --secrets OPEN
        2 | serve --model m --size 1MiB --aggregator adam
        2 | serve --model m --size 1MiB --aggregator adam:lr=0.1,rate=1
        2 | serve --model m --size 1MiB --aggregator magic
        2 | serve --model m --size 1MiB --consistency eventual
        2 | serve --model m --size 1MiB --datamover pigeon
        2 | serve --model m --size 1MiB --listen 0.0.0.0:0
        2 | serve --model m --size 1MiB --durability journal
        2 | serve --model m --size 1MiB --tuning OPEN
        2 | serve --model m --size 1MiB --admin-token OPEN
        2 | serve --nonsense
        2 | run --learners 2
        2 | run --learners 2 train.py
        2 | run --learners 0 -- true
        2 | run --learners 2 -- missing-program
        2 | run --learners 2 --listen 127.0.0.1:0 -- true
        2 | run --learners 2 --aggregator magic -- true
        2 | run --learners 2 --consistency ssp -- true
        2 | run --learners 2 --exchange overlp -- true
        2 | run --learners 2 --datamover tcp,iser -- true
        2 | run --learners 2 --lease soon -- true
        2 | MODELDISK_CONFIG=UNKNOWN serve --model m --size 1MiB
        2 | MODELDISK_CONFIG=missing.properties serve --model m --size 1MiB
        2 | MODELDISK_SERVE_NONSENSE=1 serve --model m --size 1MiB
        2 | MODELDISK_LOG_LEVEL=loud serve --model m --size 1MiB
        1 | mount GONE EMPTY --foreground
        2 | mount SHARD missing --foreground
        2 | mount SHARD EMPTY --foreground --exchange magic
        2 | mount SHARD EMPTY --foreground --restartable
        2 | mount SHARD EMPTY --foreground --secrets missing
        2 | mount CLOSED EMPTY --foreground
        2 | mount CLOSED EMPTY --foreground --secrets WRONG
        2 | mount nonsense EMPTY --foreground
        1 | unmount EMPTY
        2 | unmount missing/directory
        2 | unmount
        0 | status SHARD
        1 | status GONE
        1 | status EMPTY
        2 | status CLOSED
        2 | status nonsense
        0 | checkpoint SAVED
        1 | checkpoint SHARD
        1 | checkpoint GONE
        2 | checkpoint CLOSED
        2 | checkpoint SAVED --timeout soon
        1 | handover SHARD --shard 0
        2 | handover SHARD --shard 7
        2 | handover SHARD
        0 | lr SHARD
        0 | lr SHARD 0.5
        1 | lr GONE
        1 | lr SUM
        1 | lr EMPTY
        2 | lr SHARD -1
        2 | lr SHARD fast
        2 | lr CLOSED
        1 | coordinator --listen BUSY --state EMPTY
        1 | coordinator --listen unknown.invalid:2181 --state EMPTY
        2 | coordinator --listen 127.0.0.1:0
        2 | coordinator --listen 0.0.0.0:0 --state EMPTY
        2 | coordinator --listen 127.0.0.1:0 --state EMPTY --secrets missing
        1 | doctor GONE
        2 | doctor --datamover pigeon
        2 | bench
        2 | bench magic
        1 | MODELDISK_SERVE_MIN_LEARNERS=9 bench protocol
        2 | bench protocol --sizes 6000
        1 | MODELDISK_SERVE_MIN_LEARNERS=9 bench mount --rounds 1
        2 | bench mount --sizes 5
        1 | MODELDISK_SERVE_MIN_LEARNERS=9 bench training
        2 | bench training --model magic
        1 | JDK_JAVA_OPTIONS=-Dmodeldisk.cuda=off bench aggregator --device cuda:0
        2 | bench aggregator --aggregator adam
        1 | bench baseline --listen BUSY
        2 | bench baseline --listen nonsense:
        1 | MODELDISK_SERVE_MIN_LEARNERS=9 tune --datamover tcp --out EMPTY/tuning.json
        2 | tune --rounds 0
        0 | trace FIGURES --out EMPTY/chart
        1 | trace NOTRACE --out EMPTY/chart
        2 | trace missing.json
        """.lines().toList();

    /** The rows whose cases are the other tests of this class. */
    private static final Set<String> OTHER_CASES = Set.of("serve 143", "mount 0",
        "mount 143", "unmount 0",
        "coordinator 143",
        "handover 0", "doctor 0", "bench baseline 143");

    /**
     * The rows whose cases are in other classes, because they take long: RunIT, MicroBenchIT, MappedIT, TuneIT, and the
     * measurements of `deploy/verify`.
     */
    private static final Set<String> LONG_CASES = Set.of("run 0", "run 1", "run 143",
        "bench protocol 0",
        "bench mount 0", "bench training 0",
        "bench aggregator 0", "tune 0");

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    static Stream<String> cases() {
        return CASES.stream();
    }

    /** Returns the rows of the table, such as {@code serve 1}. */
    private static Set<String> rows(CommandLine line) {
        Set<String> rows = new TreeSet<>();
        for (CommandLine command : new HashMap<>(line.getSubcommands()).values()) {
            if (!command.getCommandSpec().usageMessage().hidden()) {
                String name = command.getCommandSpec().qualifiedName().replaceFirst("^modeldisk ", "");
                Set<String> statuses = command.getCommandSpec().usageMessage().exitCodeList().keySet();
                assertThat(statuses).as("the statuses of `" + name + "` (@Command(exitCodeList))").contains("2");
                statuses.forEach(status -> rows.add(name + " " + status.strip()));
                rows.addAll(rows(command));
            }
        }
        return rows;
    }

    @Test
    void everyRowOfTheTableHasACase() throws IOException {
        Set<String> rows = rows(Main.commandLine());
        Set<String> tried = new TreeSet<>(OTHER_CASES);
        tried.addAll(LONG_CASES);
        for (String each : CASES) {
            String status = each.substring(0, 1);
            List<String> words = Stream.of(each.substring(4).split(" ")).filter(word -> !word.matches("[A-Z_]+=.*"))
                .toList();
            String nested = words.getFirst() + (words.size() > 1 ? " " + words.get(1) : "");
            tried.add((rows.contains(nested + " " + status) ? nested : words.getFirst()) + " " + status);
        }
        assertThat(rows).containsExactlyElementsOf(tried);
    }

    /** Returns the values of the words in capitals. Each value is created only for a case that contains its word. */
    private Map<String, Supplier<Object>> places() {
        Map<String, Supplier<Object>> places = new TreeMap<>();
        places.put("SHARD", () -> launch("sgd:lr=1").address());
        places.put("SUM", () -> launch("sum").address());
        places.put("BUSY", () -> "127.0.0.1:" + launch("sum").ports().getFirst());
        places.put("SAVED", this::launchWithState);
        places.put("CLOSED", this::launchWithSecrets);
        places.put("GONE", () -> "modeldisk://127.0.0.1:1/m");
        places.put("EMPTY", () -> made(() -> sandbox.directory("empty")));
        places.put("OPEN", () -> made(() -> sandbox.file("open", "readable by all")));
        places.put("WRONG", () -> made(() -> secrets("wrong", "self learner notTheSecretOfIts")));
        places.put("UNKNOWN", () -> made(() -> sandbox.file("unknown.properties", "serve.blocksize=4096")));
        places.put("FIGURES",
            () -> made(() -> sandbox.file("figures.jsonl", "{\"seconds\": 1, \"accuracy\": 0.5}\n".repeat(2))));
        places.put("NOTRACE", () -> made(() -> sandbox.file("no.json", "{}")));
        return places;
    }

    @FunctionalInterface
    private interface Making {
        Object make() throws Exception;
    }

    private static Object made(Making making) {
        try {
            return making.make();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private Path secrets(String name, String line) throws IOException {
        return Files.setPosixFilePermissions(sandbox.file(name, line + "\n"),
            PosixFilePermissions.fromString("rw-------"));
    }

    private Shards launch(String aggregator) {
        return (Shards) made(() -> Shards.launch(sandbox, "m", 1, 1 << 20,
            context -> context.aggregator(aggregator, Aggregators.parse(aggregator))));
    }

    private Object launchWithState() {
        return made(() -> Shards.launch(sandbox, "m", 1, 1 << 20, context -> context.checkpoints(
            new CheckpointSettings(sandbox.path("state"), CheckpointPeriod.parse("1h"), 3))).address());
    }

    private Object launchWithSecrets() {
        return made(() -> Command.serveAll(sandbox, "m", 1, "--size", "1MiB", "--secrets",
            secrets("shard", "peer learner theSecretOfTheLearner")).address());
    }

    @ParameterizedTest
    @MethodSource("cases")
    void commandExitsWithTheStatusOfTheTable(String line) throws Exception {
        Map<String, Supplier<Object>> places = places();
        Map<String, String> environment = new HashMap<>();
        List<String> arguments = new ArrayList<>();
        for (String word : line.substring(4).split(" ")) {
            String place = places.keySet().stream().filter(word.replaceFirst("^[A-Z_]+=|/.*", "")::equals).findFirst()
                .orElse(null);
            String value = place == null ? word : word.replace(place, places.get(place).get().toString());
            if (value.matches("[A-Z_]+=.*")) {
                environment.put(value.split("=", 2)[0], value.split("=", 2)[1]);
            } else {
                arguments.add(value);
            }
        }
        int expected = line.charAt(0) - '0';
        if (environment.isEmpty() && !arguments.getFirst().equals("bench")) {
            assertThat(Main.commandLine().execute(arguments.toArray(String[]::new))).as(line).isEqualTo(expected);
        } else {
            Result result = sandbox.run(environment, modeldisk(arguments.toArray()));
            assertThat(result.status()).as(result::toString).isEqualTo(expected);
        }
    }

    @Test
    void statusOfAServerThatSigtermStopsIs143() throws Exception {
        List<Running> servers = List.of(
            Command.serve(sandbox, "--model", "m", "--size", "1MiB"),
            Command.coordinator(sandbox, "127.0.0.1:0"),
            sandbox.start("baseline", modeldisk("bench", "baseline", "--listen", "127.0.0.1:0")));
        for (Running server : servers) {
            server.awaitLine("ready: ");
            server.signal("TERM");
            assertThat(server.awaitEnd()).as(server.output()).isEqualTo(143);
        }
    }

    @Test
    void handoverToABackupSucceeds() throws Exception {
        String coordinator = Command.address(Command.coordinator(sandbox, "127.0.0.1:0"));
        Object[] options = {"--model", "m", "--size", "1MiB", "--durability", "replica", "--coordinator", coordinator};
        Command.serve(sandbox, options).awaitLine("ready: ");
        Command.serve(sandbox, options).awaitLine("backup: ");
        String address = "modeldisk+zk://" + coordinator + "/m";
        await("the backup is in sync",
            () -> sandbox.run(modeldisk("status", address)).output().contains("is in sync"));
        sandbox.run(modeldisk("handover", address, "--shard", "0")).succeeded();
    }

    @Test
    @Tag("mount")
    void statusesOfAMountAreThoseOfTheTable() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        Running shard = Command.serve(sandbox, "--model", "m", "--size", "1MiB", "--aggregator", "sgd:lr=1");
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        sandbox.run(modeldisk("doctor")).succeeded();
        sandbox.run(modeldisk("mount", shards.address(), directory, "--reconnect", "1s")).succeeded();
        sandbox.run(modeldisk("mount", shards.address(), directory)).failed(1, " is already a mount point");
        assertThat(sandbox.run(modeldisk("lr", directory)).succeeded().strip()).isEqualTo("1.0");
        assertThat(sandbox.run(modeldisk("lr", directory, "0.25")).succeeded().strip()).isEqualTo("0.25");
        assertThat(sandbox.run(modeldisk("lr", shards.address())).succeeded()).contains("0.25");
        assertThat(sandbox.run(modeldisk("status", directory)).succeeded()).contains("learning rate ", "0.25");
        shard.kill();
        for (String json : List.of("--json", "--json=false")) {
            sandbox.run(modeldisk("status", directory, json)).failed(1, "the status of the shards is not available: ");
        }
        sandbox.run(modeldisk("lr", directory)).failed(1, "cannot read the learning rate: ");
        sandbox.run(modeldisk("unmount", directory)).succeeded();
        Running mount = Command.mounted(sandbox, Shards.launch(sandbox, "m", 1, 1 << 20, context -> context),
            directory);
        mount.signal("TERM");
        assertThat(mount.awaitEnd()).as(mount.output()).isEqualTo(143);
    }
}
