package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.test.disk.CrashDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Kills shards with SIGKILL while learners train, discards all data that the shards have not synchronized to the disk, and starts
 * the shards again. The learners and their mounts continue.
 */
@Timeout(240)
@Tag("mount")
final class JournalIT {
    private static final int SIZE_BYTES = 3 << 20;
    private static final int ROUNDS = 40;

    /**
     * The program of a learner. All values of a gradient are the round number. With bsp, the learner checks the weights before
     * each push. It prints the number of each completed round.
     */
    private static final String TRAIN = """
        import os, sys
        import numpy as np
        path, first, last, bsp = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == 'bsp'
        fd = os.open(path, os.O_RDWR)
        size = os.fstat(fd).st_size
        for number in range(first, last + 1):
            weights = np.frombuffer(os.pread(fd, size, 0), np.float32)
            expected = number * (number - 1) // 2
            assert not bsp or (weights == expected).all(), (number, expected, weights.min(), weights.max())
            os.pwrite(fd, np.full(size // 4, number, np.float32).tobytes(), 0)
            os.fsync(fd)
            print('round', number, flush=True)
        os.close(fd)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private CrashDisk disk;

    private CrashDisk disk() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"),
            "only root can mount the test disk; run the tests as root");
        disk = sandbox.closeAfterwards(CrashDisk.mount(sandbox.directory("disk")));
        return disk;
    }

    private Running serve(int shard, int port, Object... options) throws Exception {
        return Command.serveAt(sandbox, port, "--model", "m", "--shard", shard + "/2", "--size", SIZE_BYTES,
            "--aggregator", "sum", "--lease", "60s", "--state", disk.directory().resolve("state"), options);
    }

    private List<Running> serveBoth(Shards old, Object... options) throws Exception {
        List<Running> running = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            running.add(serve(i, old == null ? 0 : old.ports().get(i), options));
        }
        return running;
    }

    private Running learner(Shards shards, String name, int first, int last, String consistency) throws Exception {
        Path directory = sandbox.directory(name);
        sandbox.run(modeldisk("mount", shards.address(), directory, "--learner", name, "--reconnect", "60s"))
            .succeeded();
        return sandbox.start(name, trainer(directory, first, last, consistency));
    }

    /** Returns a command that trains through a mount, from round {@code first} to round {@code last}. */
    static Object[] trainer(Path directory, int first, int last, String consistency) {
        return new Object[]{"python3", "-c", TRAIN, directory.resolve("model"), first, last, consistency};
    }

    private void assertTrainingContinues(String consistency, float expected) throws Exception {
        Programs.requireLearners();
        disk();
        Object[] options = {"--durability", "journal", "--consistency", consistency, "--learners", "2",
            "--checkpoint-every", "3s"};
        List<Running> running = serveBoth(null, options);
        Shards shards = Command.ready("m", running);
        Running a = learner(shards, "a", 1, ROUNDS, consistency);
        Running b = learner(shards, "b", 1, ROUNDS, consistency);
        for (int round = ROUNDS / 4; round < ROUNDS; round += ROUNDS / 4) {
            a.awaitLine("round " + round);
            b.awaitLine("round " + round);
            Running.kill(running);
            disk.crash();
            running = serveBoth(shards, options);
            Command.ready("m", running);
        }
        running.get(1).kill();
        Command.port(serve(1, shards.ports().get(1), options));
        assertThat(a.awaitEnd()).as(a.output()).isZero();
        assertThat(b.awaitEnd()).as(b.output()).isZero();
        Weights.assertAll(sandbox.path("a"), SIZE_BYTES, expected);
        assertThat(running.getFirst().output()).doesNotContain("goes back");
        assertThat(sandbox.run(modeldisk("status", shards.address())).succeeded()).contains("durability journal");
    }

    @Test
    void bspTrainingContinuesWithoutLossAfterACrashOfTheMachine() throws Exception {
        assertTrainingContinues("bsp", ROUNDS * (ROUNDS + 1) / 2);
    }

    @Test
    void aspTrainingContinuesWithoutLossAfterACrashOfTheMachine() throws Exception {
        assertTrainingContinues("asp", ROUNDS * (ROUNDS + 1));
    }

    @Test
    void checkpointSurvivesACrashOfTheMachine() throws Exception {
        Programs.requireLearners();
        disk();
        Object[] options = {"--consistency", "bsp", "--checkpoint-every", "1h"};
        List<Running> running = serveBoth(null, options);
        Shards shards = Command.ready("m", running);
        assertThat(learner(shards, "a", 1, 10, "bsp").awaitEnd()).isZero();
        sandbox.run(modeldisk("checkpoint", shards.address())).succeeded();
        assertThat(learner(shards, "b", 11, 15, "bsp").awaitEnd()).isZero();
        Running.kill(running);
        disk.crash();
        Shards again = Command.ready("m", serveBoth(shards, options));
        Running c = learner(again, "c", 11, 20, "bsp");
        assertThat(c.awaitEnd()).as(c.output()).isZero();
    }

    @Test
    void shardRefusesADamagedJournalWithTheReason() throws Exception {
        Programs.requireLearners();
        disk();
        Object[] options = {"--durability", "journal", "--consistency", "asp", "--checkpoint-every", "1h"};
        List<Running> running = serveBoth(null, options);
        Shards shards = Command.ready("m", running);
        assertThat(learner(shards, "a", 1, 5, "asp").awaitEnd()).isZero();
        Running.kill(running);
        Path segment = disk.directory().resolve("state/journal/shard-00000-of-00002/000000000001.records");
        byte[] bytes = Files.readAllBytes(segment);
        bytes[4096 + 100] ^= 1;
        Files.write(segment, bytes);
        Running refused = serve(0, 0, options);
        assertThat(refused.awaitEnd()).isNotZero();
        assertThat(refused.output()).contains(segment + " is damaged at byte 4096",
            "acknowledged pushes would be lost", "move " + disk.directory().resolve("state/journal") + " away")
            .doesNotContain("\tat io.modeldisk");
    }
}
