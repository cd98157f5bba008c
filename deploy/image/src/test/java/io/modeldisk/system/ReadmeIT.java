package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that the learner in README.md trains. */
@Tag("mount")
@Timeout(120)
final class ReadmeIT {
    private static final Pattern PYTHON = Pattern.compile("^```python\\n(.*?)^```$",
        Pattern.DOTALL | Pattern.MULTILINE);
    /** Python code for the names that the learner does not define: three batches, and a function whose gradient is ones. */
    private static final String PROBLEM = """
        batches = range(3)
        def gradient(weights, batch):
            return np.ones_like(weights)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    @Test
    void learnerInTheReadmePushesAGradientInEachIteration() throws Exception {
        Programs.requireMounting();
        Shards shards = Command.serveAll(sandbox, "digits", 1, "--size", "1MiB", "--aggregator", "sgd:lr=0.5");
        Path directory = sandbox.directory("digits");
        Command.mounted(sandbox, shards, directory);

        sandbox.run("/usr/bin/python3", sandbox.file("learner.py", learner(directory))).succeeded();

        assertThat(Weights.in(directory).get(0)).isEqualTo(-1.5f);
    }

    private static String learner(Path directory) throws Exception {
        Matcher block = PYTHON.matcher(Files.readString(Path.of(System.getProperty("project.root"), "README.md")));
        assertThat(block.find()).isTrue();
        return block.group(1).replace("/mnt/digits", directory.toString()).replace("for batch in",
            PROBLEM + "for batch in");
    }
}
