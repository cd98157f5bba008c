package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the smallest learners in deploy/examples train. deploy/verify runs the examples with PyTorch. */
@Tag("mount")
@Timeout(120)
final class ExamplesIT {
    private static final Path EXAMPLES = Path.of(System.getProperty("project.root"), "deploy", "examples");
    /** Not a multiple of the logical block size. */
    private static final int SIZE_BYTES = (1 << 20) + 5000;
    private static final String ITERATIONS = "3";
    /** The weights after three steps of half the way to 1. */
    private static final float HALF_THE_WAY = 0.875f;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path mount(String exchange) throws Exception {
        Programs.requireMounting();
        Shards shards = Command.serveAll(sandbox, "m", 2, "--size", SIZE_BYTES, "--block-size", "64KiB",
            "--aggregator", "sgd:lr=0.5", "--consistency", "bsp");
        Path directory = sandbox.directory("d");
        Command.mount(sandbox, shards, directory, "--exchange", exchange).awaitLine("ready: ");
        return directory;
    }

    private static String example(String name) {
        return EXAMPLES.resolve(name).toString();
    }

    private static void assertWeights(Path directory, float expected) throws Exception {
        ByteBuffer weights = ByteBuffer.wrap(Files.readAllBytes(directory.resolve("weights")))
            .order(ByteOrder.LITTLE_ENDIAN);
        assertThat(weights.remaining()).isEqualTo(SIZE_BYTES);
        for (int index = 0; index < SIZE_BYTES; index += Float.BYTES) {
            assertThat(weights.getFloat(index)).as("the weight at byte %d", index).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "sync"})
    void learnerInCTrains(String exchange) throws Exception {
        Programs.require("gcc", "gcc");
        Path directory = mount(exchange);
        String learner = sandbox.path("learner").toString();
        sandbox.run("gcc", "-O2", "-Wall", "-Werror", "-o", learner, example("learner.c")).succeeded();
        assertThat(sandbox.run(learner, directory.resolve("model").toString(), ITERATIONS).succeeded())
            .contains("3: the first weight was 0.75");
        assertWeights(directory, HALF_THE_WAY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "sync"})
    void learnerInPerlTrains(String exchange) throws Exception {
        Programs.require("perl", "perl-base");
        Path directory = mount(exchange);
        assertThat(sandbox.run("perl", example("learner.pl"), directory.resolve("model").toString(), ITERATIONS)
            .succeeded()).contains("3: the first weight was 0.75");
        assertWeights(directory, HALF_THE_WAY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "sync"})
    void learnerInShellTrains(String exchange) throws Exception {
        Path directory = mount(exchange);
        assertThat(sandbox.run("sh", example("learner.sh"), directory.resolve("model").toString(), ITERATIONS)
            .succeeded()).contains("3: the first weight was -1");
        assertWeights(directory, -1.5f);
    }

    @Test
    void learnerWithNumpyTrainsInMappedBuffers() throws Exception {
        Programs.require("python3", "python3-numpy");
        Path directory = mount("sync");
        assertThat(sandbox.run("/usr/bin/python3", example("learner.py"), directory.toString(), ITERATIONS).succeeded())
            .contains("3: the first weight is 0.75");
        assertWeights(directory, HALF_THE_WAY);
    }

    /** The first two gradients are computed from the initial weights, the third one from the weights after one round. */
    @Test
    void learnerWithNumpyTrainsInMappedBuffersWithOverlap() throws Exception {
        Programs.require("python3", "python3-numpy");
        Path directory = mount("overlap");
        assertThat(sandbox.run("/usr/bin/python3", example("learner.py"), directory.toString(), ITERATIONS).succeeded())
            .contains("3: the first weight is 0.5");
        assertWeights(directory, 0.5f + 0.5f + 0.25f);
    }

    @ParameterizedTest
    @ValueSource(strings = {"learner.py", "learner.pl", "learner.sh"})
    void learnerWithoutArgumentsPrintsItsUsage(String name) throws Exception {
        Result result = sandbox.run(example(name));
        assertThat(result.status()).isNotZero();
        assertThat(result.output()).contains("usage: ");
    }
}
