package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.platform.linux.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the learner of README.md, and the commands of README.md and of the tutorial, as they are written. */
@Tag("mount")
@Timeout(240)
final class ReadmeIT {
    private static final Pattern PYTHON = Pattern.compile("^```python\\n(.*?)^```$",
        Pattern.DOTALL | Pattern.MULTILINE);
    /** A block of commands. The comment before a block that this test does not run says why. */
    private static final Pattern BLOCK = Pattern.compile("^(<!-- [^\\n]* -->\\n)?```sh\\n(.*?)^```$",
        Pattern.DOTALL | Pattern.MULTILINE);
    private static final Path ROOT = Path.of(System.getProperty("project.root"));
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

    /** The pages expect free ports and empty directories below /mnt, so they run in namespaces of their own, as one script. */
    @ParameterizedTest
    @CsvSource({"README.md, held-out digits are right", "docs/tutorial.md, rank 0 of 2"})
    void commandsOfThePageRunAsWritten(String page, String words) throws Exception {
        Programs.requireMounting();
        assumeTrue(Processes.effectiveUserId() == 0, "only root can create the namespaces");
        assumeTrue(sandbox.run("/usr/bin/python3", "-c", "import torch").status() == 0, "PyTorch is not installed");
        String script = "set -e; ip link set lo up; mount -t tmpfs tmpfs /mnt; cd '" + ROOT + "'\n" + commands(page);
        Map<String, String> environment = Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR",
            sandbox.directory("tmp").toString());
        Running bash = sandbox.start("bash", environment, "unshare", "--mount", "--net", "--pid", "--fork",
            "--mount-proc",
            "--kill-child", "bash", sandbox.file("commands", script));
        await("the commands have ended", Duration.ofMinutes(3), () -> !bash.process().isAlive());
        assertThat(bash.process().exitValue()).as(bash.output()).isZero();
        assertThat(bash.output()).contains(words, "run: 2 learners, 1 shard: 66 steps", "ready: model digits");
    }

    private static String commands(String page) throws IOException {
        return BLOCK.matcher(Files.readString(ROOT.resolve(page))).results()
            .filter(block -> block.group(1) == null).map(block -> block.group(2)).collect(Collectors.joining());
    }

    private static String learner(Path directory) throws Exception {
        Matcher block = PYTHON.matcher(Files.readString(ROOT.resolve("README.md")));
        assertThat(block.find()).isTrue();
        return block.group(1).replace("/mnt/digits", directory.toString()).replace("for batch in",
            PROBLEM + "for batch in");
    }
}
