package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Kills the primary of each shard during the training of the quickstart, and compares the weights with those of an undisturbed
 * run.
 */
@Tag("mount")
@Timeout(300)
final class TrainingTakeoverIT {
    private static final Path LESSONS = Path.of(System.getProperty("project.root"), "deploy", "examples/digits");
    private static final int SHARDS = 2;
    private static final int LEARNERS = 2;
    private static final int ITERATIONS = 400;
    /** With one thread, numpy adds numbers in the same order in every run, so the results are identical. */
    private static final Map<String, String> ONE_THREAD = Map.of("OPENBLAS_NUM_THREADS", "1", "PYTHONDONTWRITEBYTECODE",
        "1");

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running serve(int shard, Object... options) throws Exception {
        List<Object> all = new ArrayList<>(
            List.of("--model", "digits", "--from", sandbox.path("digits.safetensors"), "--shard",
                shard + "/" + SHARDS, "--block-size", "16KiB", "--aggregator", "sgd:lr=0.25", "--consistency", "bsp",
                "--learners",
                LEARNERS));
        all.addAll(List.of(options));
        return Command.serve(sandbox, all.toArray());
    }

    private long iterations(String run, int learner) {
        try {
            return Files.lines(sandbox.path(run + learner + ".jsonl")).count() * 10;
        } catch (IOException e) {
            return 0;
        }
    }

    private void awaitIterations(String run, long count) {
        for (int i = 0; i < LEARNERS; i++) {
            int learner = i;
            await(() -> "learner " + learner + " reaches iteration " + count, Duration.ofSeconds(60),
                () -> iterations(run, learner) >= count);
        }
    }

    private List<Running> startLearners(String run, String address, String exchange) throws Exception {
        List<Running> learners = new ArrayList<>();
        for (int i = 0; i < LEARNERS; i++) {
            sandbox.run(
                modeldisk("mount", address, sandbox.directory(run + i), "--learner", run + i, "--exchange", exchange,
                    "--reconnect", "60s"))
                .succeeded();
        }
        for (int i = 0; i < LEARNERS; i++) {
            learners
                .add(sandbox.start("learner", ONE_THREAD, "python3", LESSONS.resolve("learner.py").toString(), "--file",
                    sandbox.path(run + i).resolve("model").toString(), "--iterations", "" + ITERATIONS, "--progress",
                    sandbox.path(run + i + ".jsonl").toString()));
        }
        return learners;
    }

    private byte[] weights(String run, List<Running> learners) throws Exception {
        for (Running learner : learners) {
            assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        }
        return Files.readAllBytes(sandbox.path(run + 0).resolve("weights"));
    }

    private byte[] undisturbedWeights() throws Exception {
        List<Running> shards = new ArrayList<>();
        for (int i = 0; i < SHARDS; i++) {
            shards.add(serve(i));
        }
        return weights("quiet", startLearners("quiet", Command.ready("digits", shards).address(), "overlap"));
    }

    private byte[] weightsWithTakeovers() throws Exception {
        String coordinator = Command.coordinator(sandbox, "127.0.0.1:0").awaitLine("ready: ").replaceFirst(
            ".* on ([^,]*),.*", "$1");
        String address = "modeldisk+zk://" + coordinator + "/digits";
        Object[] options = {"--coordinator", coordinator, "--coordinator-session", "1s", "--durability", "replica",
            "--replicas",
            2};
        List<Running> primaries = new ArrayList<>();
        for (int i = 0; i < SHARDS; i++) {
            primaries.add(serve(i, options));
            primaries.getLast().awaitLine("ready: ");
            serve(i, options);
        }
        await(() -> "each shard has a backup in sync", Duration.ofSeconds(60),
            () -> sandbox.run(modeldisk("status", address)).output().lines()
                .filter(line -> line.contains(": backup at ") && line.contains(" is in sync")).count() == SHARDS);
        List<Running> learners = startLearners("disturbed", address, "overlap");
        for (int i = 0; i < SHARDS; i++) {
            awaitIterations("disturbed", iterations("disturbed", 0) + 50);
            assertThat(primaries.get(i).process().isAlive()).isTrue();
            primaries.get(i).signal("KILL");
        }
        awaitIterations("disturbed", iterations("disturbed", 0) + 50);
        return weights("disturbed", learners);
    }

    @Test
    void takeoversDoNotChangeABitOfTheTrainedWeights() throws Exception {
        Programs.requireMounting();
        Programs.require("python3", "python3-numpy");
        sandbox
            .run(ONE_THREAD, "python3", LESSONS.resolve("digits.py").toString(),
                sandbox.path("digits.safetensors").toString())
            .succeeded();
        assertThat(weightsWithTakeovers()).isEqualTo(undisturbedWeights());
    }
}
