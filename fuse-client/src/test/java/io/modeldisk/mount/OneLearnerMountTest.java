package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A mount is one learner: one process and its children have it open for writing. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class OneLearnerMountTest {
    private static final String ALLOWED = "opened\n";
    private static final String REFUSED = "EBUSY\n";

    @AutoClose
    private final MountFixture fixture = new MountFixture(1 << 20);
    private Process learner;

    @AfterEach
    void end() throws Exception {
        if (learner != null) {
            learner.destroy();
            learner.waitFor();
        }
    }

    /** Starts a process that has a file open for writing until the test ends. */
    private void hold(String file) throws IOException {
        learner = fixture.shell.start("exec 5<>\"$DIR/" + file + "\"; exec sleep 100");
        await("the learner joins", () -> fixture.mount.status().at("/mount/training").asBoolean());
    }

    /** Opens a file in another process, and returns the outcome. */
    private String open(String file, String flags) throws Exception {
        return fixture.shell.succeed("python3 - <<'P'\n"
            + "import errno, os\n"
            + "try: os.open(os.environ['DIR'] + '/" + file + "', os." + flags + "); print('opened')\n"
            + "except OSError as e: print(errno.errorcode[e.errno])\n"
            + "P");
    }

    @ParameterizedTest
    @CsvSource({"model,model,O_RDWR", "model,mapped/control,O_RDWR", "mapped/control,model,O_WRONLY",
        "mapped/control,mapped/control,O_RDWR"})
    void secondProcessIsRefusedAtOnceWithTheReason(String first, String second, String flags) throws Exception {
        fixture.launch("sync");
        hold(first);
        assertThat(open(second, flags)).isEqualTo(REFUSED);
        String reason = new ObjectMapper().readTree(Files.readString(fixture.dir.resolve("status.json")))
            .at("/mount/lastError").asText();
        assertThat(reason).matches("process " + learner.pid() + " \\((bash|sleep)\\) has " + first
            + " open for writing, and a mount is one learner: mount the model once more for process \\d+ \\(python3\\), or mount "
            + "it with --shared if both are one learner");
        learner.destroy();
        learner.waitFor();
        assertThat(open(second, flags)).as("after the learner has exited").isEqualTo(ALLOWED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "sync", "overlap"})
    void otherProcessesReadAndReplaceWeightsBesideTheLearner(String exchange) throws Exception {
        fixture.launch(exchange);
        hold("model");
        assertThat(open("model", "O_RDONLY")).isEqualTo(ALLOWED);
        assertThat(open("weights", "O_RDWR")).isEqualTo(ALLOWED);
        fixture.shell.succeed("python3 -c 'import os; os.truncate(os.environ[\"DIR\"] + \"/model\", 0);"
            + " os.utime(os.environ[\"DIR\"] + \"/model\")'");
        assertThat(open("model", "O_RDWR")).isEqualTo(REFUSED);
    }

    @Test
    void childrenAndThreadsOfTheLearnerAreTheLearner() throws Exception {
        fixture.launch("sync");
        fixture.shell.succeed("python3 - <<'P'\n"
            + "import multiprocessing, os, subprocess, threading\n"
            + "name = os.environ['DIR'] + '/mapped/control'\n"
            + "def again(): os.close(os.open(name, os.O_RDWR))\n"
            + "def child(): again(); subprocess.run(['bash', '-c', 'exec 5<>\"$1\"', '-', name], check=True)\n"
            + "def first(): files.append(os.open(name, os.O_RDWR))\n"
            + "files = []\n"
            + "opener = threading.Thread(target=first); opener.start(); opener.join()\n"
            + "again()\n"
            + "worker = multiprocessing.get_context('fork').Process(target=child); worker.start(); worker.join()\n"
            + "assert worker.exitcode == 0, worker.exitcode\n"
            + "errors = []\n"
            + "def checked():\n"
            + "  try: again()\n"
            + "  except OSError as e: errors.append(e)\n"
            + "thread = threading.Thread(target=checked); thread.start(); thread.join()\n"
            + "assert errors == [], errors\n"
            + "P");
        assertThat(fixture.mount.counters().lastError()).isEmpty();
    }

    @Test
    void processesCanBeTheLearnerOneAfterTheOther() throws Exception {
        fixture.launch("sync");
        fixture.shell.succeed("for i in 1 2 3 4 5; do\n"
            + "  head -c 4096 /dev/zero | dd of=\"$DIR/model\" conv=fsync,notrunc status=none || exit 1\n"
            + "done");
        assertThat(fixture.mount.counters().lastError()).isEmpty();
    }

    @Test
    void childOfALearnerThatHasExitedStaysTheLearner() throws Exception {
        fixture.launch("sync");
        learner = fixture.shell.start("bash -c 'exec 5<>\"$DIR/model\"; sleep 100 & echo $!; echo $$'");
        String child = learner.inputReader().readLine();
        long opener = Long.parseLong(learner.inputReader().readLine());
        await("the process that has opened the file exits", () -> ProcessHandle.of(opener).isEmpty());
        try {
            assertThat(open("model", "O_RDWR")).isEqualTo(REFUSED);
            assertThat(fixture.mount.counters().lastError()).startsWith("a child of process ");
        } finally {
            ProcessHandle.of(Long.parseLong(child)).ifPresent(ProcessHandle::destroy);
        }
    }

    @Test
    void processesOfASharedMountAreOneLearner() throws Exception {
        fixture.mount = ModelMount.launch(fixture.context("sync").shared(true));
        hold("model");
        assertThat(open("model", "O_RDWR")).isEqualTo(ALLOWED);
        assertThat(open("mapped/control", "O_RDWR")).as("a learner uses one of the files").isEqualTo(REFUSED);
    }
}
