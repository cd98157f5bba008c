package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the smallest learners in deploy/examples. deploy/verify tests the examples with PyTorch. */
@Tag("mount")
@Timeout(120)
final class ExamplesIT {
    private static final Path EXAMPLES = Path.of(System.getProperty("project.root"), "deploy", "examples");
    /** The size of the model, which is not a multiple of the logical block size. */
    private static final int SIZE_BYTES = (1 << 20) + 5000;
    private static final String ITERATIONS = "3";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path mount(String exchange) throws Exception {
        Programs.requireMounting();
        Shards shards = Command.serveAll(sandbox, "m", 2, "--size", SIZE_BYTES, "--block-size", "64KiB",
            "--aggregator", "sgd:lr=0.5", "--consistency", "bsp");
        Path directory = sandbox.directory("d");
        Command.mounted(sandbox, shards, directory, "--exchange", exchange);
        return directory;
    }

    private static String example(String name) {
        return EXAMPLES.resolve(name).toString();
    }

    /**
     * Each case consists of a learner, an exchange scheme, the first weight in iteration 3, and the final weights. With overlap,
     * the learner computes the first two gradients from the initial weights, and the third gradient from the weights after one
     * round.
     */
    @ParameterizedTest
    @CsvSource({"learner.c, direct, 0.75, 0.875", "learner.c, sync, 0.75, 0.875", "learner.pl, direct, 0.75, 0.875",
        "learner.pl, sync, 0.75, 0.875", "learner.sh, sync, -1, -1.5", "learner.py, sync, 0.75, 0.875",
        "learner.py, overlap, 0.5, 1.25"})
    void exampleLearnerTrainsToTheExpectedWeights(String name, String exchange, String third, float last)
        throws Exception {
        Path directory = mount(exchange);
        assertThat(sandbox.run(learner(name, directory)).succeeded())
            .containsPattern("3: the first weight (is|was) " + third);
        Weights.assertAll(directory, SIZE_BYTES, last);
    }

    private Object[] learner(String name, Path directory) throws Exception {
        String model = directory.resolve("model").toString();
        switch (name) {
            case "learner.c" -> {
                Programs.require("gcc", "gcc");
                String program = sandbox.path("learner").toString();
                sandbox.run("gcc", "-O2", "-Wall", "-Werror", "-o", program, example(name)).succeeded();
                return new Object[]{program, model, ITERATIONS};
            }
            case "learner.pl" -> {
                Programs.require("perl", "perl-base");
                return new Object[]{"perl", example(name), model, ITERATIONS};
            }
            case "learner.py" -> {
                // This learner uses the mapped buffers in the directory of the mount.
                Programs.require("python3", "python3-numpy");
                return new Object[]{"/usr/bin/python3", example(name), directory, ITERATIONS};
            }
            default -> {
                return new Object[]{"sh", example(name), model, ITERATIONS};
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"learner.py", "learner.pl", "learner.sh"})
    void learnerWithoutArgumentsPrintsItsUsage(String name) throws Exception {
        sandbox.run(example(name)).failed("usage: ");
    }
}
