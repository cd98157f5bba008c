package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
    private static final int SHARDS = 2;
    private static final int LEARNERS = 2;
    private static final int ITERATIONS = 400;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running serve(int shard, Object... options) throws Exception {
        return Command.serve(sandbox, "--model", "digits", "--from", sandbox.path("digits.safetensors"), "--shard",
            shard + "/" + SHARDS, "--block-size", "16KiB", "--aggregator", "sgd:lr=0.25", "--consistency", "bsp",
            "--learners", LEARNERS, options);
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

    private List<Running> startLearners(String run, String address) throws Exception {
        List<Running> learners = new ArrayList<>();
        for (int i = 0; i < LEARNERS; i++) {
            sandbox.run(modeldisk("mount", address, sandbox.directory(run + i), "--learner", run + i, "--exchange",
                "overlap", "--reconnect", "60s")).succeeded();
        }
        for (int i = 0; i < LEARNERS; i++) {
            learners.add(Digits.learner(sandbox, sandbox.path(run + i).resolve("model"), ITERATIONS, "--progress",
                sandbox.path(run + i + ".jsonl")));
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
        return weights("quiet", startLearners("quiet", Command.ready("digits", shards).address()));
    }

    private byte[] weightsWithTakeovers() throws Exception {
        String coordinator = Command.address(Command.coordinator(sandbox, "127.0.0.1:0"));
        String address = "modeldisk+zk://" + coordinator + "/digits";
        Object[] options = {"--coordinator", coordinator, "--coordinator-session", "1s", "--durability", "replica",
            "--replicas", 2};
        List<Running> primaries = new ArrayList<>();
        for (int i = 0; i < SHARDS; i++) {
            primaries.add(serve(i, options));
            primaries.getLast().awaitLine("ready: ");
            serve(i, options);
        }
        await(() -> "each shard has a backup in sync", Duration.ofSeconds(60),
            () -> sandbox.run(modeldisk("status", address)).output().lines()
                .filter(line -> line.contains(": backup at ") && line.contains(" is in sync")).count() == SHARDS);
        List<Running> learners = startLearners("disturbed", address);
        for (int i = 0; i < SHARDS; i++) {
            awaitIterations("disturbed", iterations("disturbed", 0) + 50);
            assertThat(primaries.get(i).process().isAlive()).isTrue();
            primaries.get(i).signal("KILL");
        }
        awaitIterations("disturbed", iterations("disturbed", 0) + 50);
        return weights("disturbed", learners);
    }

    @Test
    void takeoversChangeNoBitOfTheTrainedWeights() throws Exception {
        Programs.requireLearners();
        Digits.run(sandbox, "digits.py", sandbox.path("digits.safetensors"));
        assertThat(weightsWithTakeovers()).isEqualTo(undisturbedWeights());
    }
}
