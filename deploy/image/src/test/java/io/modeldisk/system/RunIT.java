package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code modeldisk run}: two learners, and every way in which they, the shard, the mounts and the run itself can end. */
@Tag("mount")
@Timeout(300)
final class RunIT {
    /** A learner that hands over a model of zeros, as {@code Learner(net)} does, and pushes gradients of ones. */
    private static final String LEARNER = """
        import json, os, struct, sys, time
        run, mount, rank, steps = os.environ['MODELDISK_RUN'], os.environ['MODELDISK_DIR'], os.environ['RANK'], int(sys.argv[1])
        size = 1 << 16
        open(f'{run}/learner-{rank}', 'w').close()
        if rank == '0' and not os.path.exists(f'{run}/ready'):
            header = json.dumps({'w': {'dtype': 'F32', 'shape': [size // 4], 'data_offsets': [0, size]}}).encode()
            with open(f'{run}/part', 'wb') as file:
                file.write(struct.pack('<Q', len(header)) + header + bytes(size))
            os.rename(f'{run}/part', f'{run}/model.safetensors')
        while not os.path.exists(f'{run}/ready'):
            if os.path.exists(f'{run}/failed'):
                sys.exit('told: ' + open(f'{run}/failed').read())
            time.sleep(0.01)
        model = os.open(f'{mount}/model', os.O_RDWR)
        ones = struct.pack('<f', 1.0) * (size // 4)
        for step in range(steps):
            while True:
                try:
                    os.pwrite(model, ones, 0)
                    os.fsync(model)
                    break
                except OSError as error:
                    if len(sys.argv) < 3:
                        raise
                    print('again after', error.errno)
            if step == 0:
                print('trains')
            time.sleep(0.01)
        print('weight', struct.unpack('<f', os.pread(model, 4, 0))[0], os.environ['WORLD_SIZE'], os.environ['LOCAL_RANK'])
        """;
    private static final String FOREVER = "1000000";
    /** How many times {@link #nothingIsLeftAfterRandomKills} ends a run. */
    private static final int KILLS = Integer.getInteger("run.kills", 3);

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path script;
    private Path temporary;

    @BeforeEach
    void writeLearner() throws Exception {
        Programs.requireLearners();
        script = sandbox.file("learner.py", LEARNER);
        temporary = sandbox.directory("a directory");
    }

    private Object[] command(Object... options) {
        return modeldisk("run", "--learners", 2, "--aggregator", "sgd:lr=1", "--consistency", "bsp", options);
    }

    private Map<String, String> environment() {
        return Map.of("TMPDIR", temporary.toString());
    }

    private Result run(Object... options) throws Exception {
        return sandbox.run(environment(), command(options));
    }

    /** Starts a run, and waits until both learners train. */
    private Running training(Object... options) throws Exception {
        Running run = sandbox.start("run", environment(), command(options));
        run.awaitLine("0: trains");
        run.awaitLine("1: trains");
        return run;
    }

    /** Returns the processes of a kind: "" for the learners, "/shards" or "/mounts". */
    private List<ProcessHandle> members(String kind) throws IOException {
        try (Stream<Path> all = Files.list(temporary)) {
            List<String> marks = all.map(run -> "MODELDISK_RUN=" + run + kind).toList();
            return ProcessHandle.allProcesses()
                .filter(process -> marks.stream().anyMatch(environment(process)::contains))
                .filter(process -> kind.isEmpty() || process.info().command().orElse("").endsWith("/java"))
                .toList();
        }
    }

    private static List<String> environment(ProcessHandle process) {
        try {
            return List.of(new String(Files.readAllBytes(Path.of("/proc", Long.toString(process.pid()), "environ")),
                StandardCharsets.ISO_8859_1).split("\0"));
        } catch (IOException e) {
            return List.of();
        }
    }

    private void assertNothingIsLeft() throws Exception {
        await("the run has removed its directory", () -> temporary.toFile().list().length == 0);
        assertThat(sandbox.mounts()).isEmpty();
        for (String kind : List.of("", "/shards", "/mounts")) {
            assertThat(members(kind)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void learnersTrainWithTheModelOfRank0(int shards) throws Exception {
        assertThat(run("--shards", shards, "--", "python3", script, 20).succeeded())
            .contains("0: weight -20.0 2 0", "1: weight -20.0 2 1", "run: 2 learners, ", "20 steps");
        assertNothingIsLeft();
    }

    @Test
    void programWithoutLearnerStartsWhenAGivenModelIsMounted() throws Exception {
        assertThat(run("--size", "64KiB", "--", "sh", "-c", "cat \"$MODELDISK_DIR\"/model | wc -c").succeeded())
            .contains("0: 65536", "1: 65536");
        assertNothingIsLeft();
    }

    @Test
    void learnersEndWhenOneOfThemFails() throws Exception {
        Running run = training("--", "sh", "-c",
            "test $RANK = 0 || { python3 " + script + " 3; exit 7; }; exec python3 "
                + script + " " + FOREVER);
        assertThat(run.awaitEnd()).isEqualTo(7);
        assertThat(run.output()).contains("run: rank 1 ended with status 7");
        assertNothingIsLeft();
    }

    @Test
    void learnersContinueWithElasticWhenOneOfThemFails() throws Exception {
        assertThat(run("--elastic", "--", "sh", "-c",
            "test $RANK = 0 || { python3 " + script + " 3; exit 7; }; exec python3 "
                + script + " 30")
            .succeeded()).contains("run: rank 1 ended with status 7; the other learners continue",
                "0: weight -30.0");
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource({"/shards, KILL, 1, run: shard-0 was killed by signal 9", "/mounts, KILL, 1, was killed by signal 9",
        "'', KILL, 137, was killed by signal 9", "'', TERM, 143, was killed by signal 15"})
    void runEndsWhenAPartOfItIsKilled(String kind, String signal, int status, String words) throws Exception {
        Running run = training("--", "python3", script, FOREVER);
        kill(members(kind).getFirst(), signal);
        assertThat(run.awaitEnd()).as(run.output()).isEqualTo(status);
        assertThat(run.output()).contains(words).doesNotContain("Exception");
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143", "KILL, 137"})
    void nothingIsLeftAfterASignal(String signal, int status) throws Exception {
        Running run = training("--", "python3", script, FOREVER);
        // A stopped learner does not react to SIGTERM, only to SIGKILL.
        kill(members("").getFirst(), "STOP");
        run.signal(signal);
        assertThat(run.awaitEnd()).isEqualTo(status);
        assertThat(run.output()).doesNotContain("Exception");
        assertNothingIsLeft();
    }

    @Test
    void processWithoutEnvironmentEndsWithItsLearner() throws Exception {
        assertThat(run("--", "sh", "-c", "env -i sleep 86399 & exec python3 " + script + " 3").succeeded())
            .contains("3 steps");
        assertNothingIsLeft();
        assertThat(ProcessHandle.allProcesses().filter(each -> each.info().arguments().map(List::of)
            .orElse(List.of()).equals(List.of("86399")))).isEmpty();
    }

    @Test
    void outputHasTheRankInFrontAndSomeLinesOfAProgressBar() throws Exception {
        String bar = "for i in $(seq 100); do printf 'bar %s\\r' $i; sleep 0.02; done; printf 'done\\r\\nnone'; exec python3 ";
        String output = run("--", "sh", "-c", bar + script + " 3").succeeded();
        assertThat(output).contains("0: bar ", "0: done\n", "1: none");
        assertThat(output.lines().filter(line -> line.contains("bar"))).hasSizeLessThan(20);
    }

    @Test
    void settingThatTheShardsCannotHaveIsRefused() throws Exception {
        sandbox.run(Map.of("MODELDISK_SERVE_COORDINATOR", "127.0.0.1:1"), command("--", "true")).failed(2,
            "serve.coordinator=127.0.0.1:1 in the settings is not for run");
    }

    @Test
    void killedShardIsRestartedWithState() throws Exception {
        Running run = training("--state", sandbox.path("state"), "--checkpoint-every", "10rounds", "--", "python3",
            script,
            FOREVER, "again");
        // A shard that ends within 5 s of its start is not started again.
        Thread.sleep(5000);
        kill(members("/shards").getFirst(), "KILL");
        run.awaitLine("run: shard-0 was killed by signal 9; restarting it");
        run.awaitLines("0: again", 1);
        run.signal("INT");
        assertThat(run.awaitEnd()).isEqualTo(130);
        assertNothingIsLeft();
    }

    @Test
    void programThatFailsAtOnceIsNamedWithItsStatus() throws Exception {
        for (int i = 0; i < 3; i++) {
            run("--", "sh", "-c", "exit 3").failed(3, "ended with status 3");
        }
        assertNothingIsLeft();
    }

    @Test
    void stateOfARunIsNotForAnotherOne() throws Exception {
        Running first = training("--state", sandbox.path("state"), "--", "python3", script, FOREVER);
        run("--state", sandbox.path("state"), "--", "python3", script, 1).failed(1, "is used by another run");
        first.signal("TERM");
        assertThat(first.awaitEnd()).isEqualTo(143);
        assertNothingIsLeft();
    }

    @Test
    void secondRunContinuesFromTheState() throws Exception {
        Object[] options = {"--state", sandbox.path("state"), "--", "python3", script, 20};
        assertThat(run(options).succeeded()).contains("0: weight -20.0");
        assertThat(run(options).succeeded()).contains("0: weight -40.0");
        assertNothingIsLeft();
    }

    @Test
    void shardsAndMountsStayWithKeep() throws Exception {
        String output = run("--keep", "--", "python3", script, 5).succeeded();
        String end = output.replaceFirst("(?s).*to end them: ([^\\n]*).*", "$1");
        assertThat(members("/shards")).isNotEmpty();
        assertThat(sandbox.mounts()).hasSize(2);
        sandbox.run("sh", "-c", end).succeeded();
        assertNothingIsLeft();
    }

    @Test
    void rankThatEndsWithoutALearnerIsNamed() throws Exception {
        Result none = run("--", "true");
        assertThat(none.status()).isEqualTo(1);
        assertThat(none.output()).contains("rank 0 ended without a Learner(net)", "--from FILE or --size BYTES");
        Result one = run("--", "sh", "-c", "test $RANK = 1 || exec python3 " + script + " " + FOREVER);
        assertThat(one.status()).isEqualTo(1);
        assertThat(one.output()).contains("rank 1 ended without a Learner(net), and the others would wait for it");
        assertNothingIsLeft();
    }

    @Test
    void learnersAreToldWhyAShardDoesNotStart() throws Exception {
        Result result = run("--block-size", "5KiB", "--", "python3", script, 1);
        assertThat(result.status()).isNotZero();
        assertThat(result.output()).contains("run: shard-0 ended with status", "5 KiB", "0: told: shard-0 ended");
        assertNothingIsLeft();
    }

    @Test
    void nothingIsLeftAfterRandomKills() throws Exception {
        long seed = Long.getLong("run.seed", 1);
        Random random = new Random(seed);
        for (int i = 0; i < KILLS; i++) {
            Running run = sandbox.start("run", environment(),
                command("--shards", 1 + random.nextInt(2), "--", "python3", script,
                    FOREVER));
            Thread.sleep(random.nextInt(4000));
            String kind = List.of("run", "", "/shards", "/mounts").get(random.nextInt(4));
            List<ProcessHandle> victims = kind.equals("run") ? List.of(run.process().toHandle()) : members(kind);
            if (victims.isEmpty()) {
                victims = List.of(run.process().toHandle());
            }
            kill(victims.get(random.nextInt(victims.size())), List.of("KILL", "TERM").get(random.nextInt(2)));
            run.awaitEnd();
            assertNothingIsLeft();
        }
    }

    private void kill(ProcessHandle process, String signal) throws Exception {
        sandbox.run("kill", "-" + signal, process.pid()).succeeded();
    }
}
