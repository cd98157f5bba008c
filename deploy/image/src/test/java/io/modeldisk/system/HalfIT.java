package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Trains the digit classifier of the quickstart with each value of {@code mount --dtype}, on two shards and with two learners.
 */
@Tag("mount")
@Timeout(600)
@Execution(ExecutionMode.SAME_THREAD)
final class HalfIT {
    private static final int ITERATIONS = 400;
    private static final int SHARDS = 2;
    private static final int LEARNERS = 2;
    private static final int WEIGHTS = 38_410;
    /** The longest time that one training is allowed to take. */
    private static final Duration TRAINING = Duration.ofMinutes(3);

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    /**
     * The result of one training.
     *
     * @param accuracy the fraction of the held-out images that the model classifies correctly
     * @param movedBytes the sum of the bytes that learners pushed and pulled, as the shards count them
     * @param fileBytes the size of the file {@code model}
     */
    private record Outcome(double accuracy, long movedBytes, long fileBytes) {}

    private Outcome train(String dtype, String exchange, String file, String binding, int iterations) throws Exception {
        Programs.requireLearners();
        Path initial = sandbox.path(dtype + exchange + ".safetensors");
        Digits.run(sandbox, "digits.py", initial);
        Shards shards = Command.serveAll(sandbox, "digits", SHARDS, "--from", initial, "--block-size", "16KiB",
            "--aggregator", "sgd:lr=0.25", "--consistency", "bsp", "--learners", LEARNERS);
        List<Path> directories = new ArrayList<>();
        List<Running> mounts = new ArrayList<>();
        for (int i = 0; i < LEARNERS; i++) {
            directories.add(sandbox.directory(dtype + exchange + i));
            mounts.add(Command.mount(sandbox, shards, directories.get(i), "--dtype", dtype, "--exchange", exchange,
                "--datamover", "tcp", "--binding", binding, "--learner", "l" + i));
        }
        for (Running mount : mounts) {
            assertThat(mount.awaitLine("ready: ")).contains("dtype " + dtype);
        }
        List<Running> learners = new ArrayList<>();
        for (Path directory : directories) {
            learners.add(Digits.learner(sandbox, directory.resolve(file), iterations));
        }
        await(() -> "the learners end", TRAINING, () -> learners.stream().noneMatch(each -> each.process().isAlive()));
        for (Running learner : learners) {
            assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        }
        long moved = 0;
        JsonNode status = new ObjectMapper().readTree(Files.readString(directories.getFirst().resolve("status.json")));
        assertThat(status.at("/mount/dtype").asText()).isEqualTo(dtype);
        for (JsonNode shard : status.path("shards")) {
            moved += shard.path("pushedBytes").asLong() + shard.path("pulledBytes").asLong();
        }
        JsonNode evaluation = new ObjectMapper()
            .readTree(Digits.run(sandbox, "evaluate.py", directories.getFirst().resolve("weights")));
        Outcome result = new Outcome(evaluation.path("accuracy").asDouble(), moved,
            Files.size(directories.getFirst().resolve("model")));
        for (Path directory : directories) {
            sandbox.run(modeldisk("unmount", directory)).succeeded();
        }
        return result;
    }

    @Test
    void trainingWithBf16OrF16ReachesTheAccuracyOfFloat32WithHalfTheBytes() throws Exception {
        Map<String, Outcome> results = new HashMap<>();
        for (String dtype : List.of("f32", "bf16", "f16")) {
            results.put(dtype, train(dtype, "sync", "model", "kernel", ITERATIONS));
        }
        Outcome whole = results.get("f32");
        assertThat(whole.accuracy).isGreaterThan(0.95);
        // Each learner pushes and pulls the whole model in each iteration, and pulls it once more when it opens the model.
        assertThat(whole.movedBytes).isGreaterThan(2L * LEARNERS * ITERATIONS * Float.BYTES * WEIGHTS);
        for (String dtype : List.of("bf16", "f16")) {
            Outcome half = results.get(dtype);
            assertThat(half.accuracy).as(dtype).isCloseTo(whole.accuracy, within(0.01));
            assertThat(half.movedBytes).as(dtype).isEqualTo(whole.movedBytes / 2);
            assertThat(half.fileBytes).as(dtype).isEqualTo(whole.fileBytes / 2).isEqualTo(Short.BYTES * WEIGHTS);
        }
    }

    @ParameterizedTest
    @CsvSource({"bf16, overlap, mapped/control, kernel", "f16, direct, model, jnr"})
    void halfPrecisionLearnerTrainsWithOverlapAndDirect(String dtype, String exchange, String file, String binding)
        throws Exception {
        Outcome result = train(dtype, exchange, file, binding, ITERATIONS / 4);
        assertThat(result.accuracy).isGreaterThan(0.85);
    }
}
