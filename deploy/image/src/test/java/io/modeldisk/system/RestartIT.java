package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Restarts one shard after the other while two learners train. No learner must get an error, and each push must count once. */
@Tag("mount")
@Timeout(300)
@Execution(ExecutionMode.SAME_THREAD)
final class RestartIT {
    private static final int SIZE_BYTES = 2 << 20;
    private static final int LEARNERS = 2;
    private static final int BLOCK_BYTES = 64 << 10;

    /**
     * A learner that pushes a gradient of ones in each iteration. It exits after the number of iterations in the file
     * {@code last}, or at the first error. With bsp and sync, it checks the weights of each pull.
     */
    private static final String LEARN = """
        import os, sys, time
        import numpy as np
        path, last, exact = sys.argv[1], sys.argv[2], sys.argv[3] == 'true'
        fd = os.open(path, os.O_RDWR)
        size = os.fstat(fd).st_size
        ones = np.ones(size // 4, np.float32).tobytes()
        number = 0
        while not os.path.exists(last) or number < int(open(last).read()):
            weights = np.frombuffer(os.pread(fd, size, 0), np.float32)
            assert not exact or (weights == number).all(), (number, weights.min(), weights.max())
            os.pwrite(fd, ones, 0)
            os.fsync(fd)
            print('iteration', number, flush=True)
            number += 1
            # The pause is short, so a push is often in flight when a shard stops.
            time.sleep(0.02)
        os.close(fd)
        """;

    /**
     * A learner that calls fsync twice for one gradient of ones, and once for the next. It waits for a line before each fsync. It
     * prints the results.
     */
    private static final String REPEAT = """
        import errno, os, sys
        import numpy as np
        fd = os.open(sys.argv[1], os.O_RDWR)
        size = os.fstat(fd).st_size
        for gradient in 'new', 'old', 'new':
            if gradient == 'new':
                os.pread(fd, size, 0)
                os.pwrite(fd, np.ones(size // 4, np.float32).tobytes(), 0)
            print('written', flush=True)
            sys.stdin.readline()
            try:
                os.fsync(fd)
                print('fsync 0', flush=True)
            except OSError as failure:
                print('fsync', errno.errorcode[failure.errno], flush=True)
        os.close(fd)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running serve(int shard, int port, String consistency, String durability) throws Exception {
        return Command.serveAt(sandbox, port, "--model", "m", "--shard", shard + "/2", "--size", SIZE_BYTES,
            "--aggregator", "sum", "--consistency", consistency, "--learners", LEARNERS, "--state",
            sandbox.path("state"), "--checkpoint-every", "1h", "--durability", durability, "--block-size", BLOCK_BYTES);
    }

    @ParameterizedTest
    @CsvSource({"bsp, sync, checkpoint", "bsp, overlap, checkpoint", "asp, sync, checkpoint", "ssp:1, sync, journal"})
    void learnersSeeNoErrorWhileEachShardIsRestarted(String consistency, String exchange, String durability)
        throws Exception {
        Programs.requireLearners();
        List<Running> running = new ArrayList<>(
            List.of(serve(0, 0, consistency, durability), serve(1, 0, consistency, durability)));
        Shards shards = Command.ready("m", running);
        Path last = sandbox.path("last");
        List<Running> mounts = new ArrayList<>();
        List<Running> learners = new ArrayList<>();
        for (int i = 0; i < LEARNERS; i++) {
            Path directory = sandbox.directory("learner" + i);
            mounts.add(Command.mounted(sandbox, shards, directory, "--learner", "l" + i, "--exchange", exchange,
                "--reconnect", "60s"));
            learners.add(sandbox.start("learner", "python3", "-c", LEARN, directory.resolve("model"), last,
                consistency.equals("bsp") && exchange.equals("sync")));
        }
        for (int shard = 1; shard >= 0; shard--) {
            awaitIterations(learners.getFirst(), 20);
            running.get(shard).signal("TERM");
            running.get(shard).awaitEnd();
            running.set(shard, serve(shard, shards.ports().get(shard), consistency, durability));
            running.get(shard).awaitLine("ready: ");
        }
        awaitIterations(learners.getFirst(), 1);
        // The learners need three more seconds to reach this iteration, so both read the file before they reach the iteration.
        int iterations = learners.stream().mapToInt(RestartIT::iteration).max().orElseThrow() + 150;
        Files.move(sandbox.file("all", Integer.toString(iterations)), last);
        for (int i = 0; i < LEARNERS; i++) {
            Running learner = learners.get(i);
            await("the learner ends", Duration.ofSeconds(120), () -> !learner.process().isAlive());
            String mount = mounts.get(i).output();
            assertThat(learner.process().exitValue()).as("%s\n%s", learner.output(), mount).isZero();
            assertThat(mount.lines().skip(1)).as("the log of the mount: a line for each stop and each start of a shard")
                .hasSize(4)
                .allMatch(
                    line -> line.matches(".* WARN .* (serves again|stops; calls wait until .* at most 60000 ms)"));
        }
        Weights.assertAll(sandbox.path("learner0"), SIZE_BYTES,
            consistency.equals("bsp") ? iterations : LEARNERS * iterations);
    }

    private void restart(List<Running> running, Shards shards, int shard) throws Exception {
        running.get(shard).signal("TERM");
        running.get(shard).awaitEnd();
        running.set(shard, serve(shard, shards.ports().get(shard), "asp", "checkpoint"));
        running.get(shard).awaitLine("ready: ");
    }

    private static void fsync(Running learner, int number, String expected) throws Exception {
        learner.awaitLines("written", number);
        learner.process().getOutputStream().write('\n');
        learner.process().getOutputStream().flush();
        await(() -> "the learner prints the result of fsync " + number + "\n" + learner.output(),
            Duration.ofSeconds(60), () -> learner.lines("fsync ").size() == number);
        assertThat(learner.lines("fsync ").getLast()).isEqualTo("fsync " + expected);
    }

    /** Returns the distinct weights in the blocks of shard 0. */
    private Set<Float> weightsOfFirstShard(Path directory) throws Exception {
        FloatBuffer weights = Weights.in(directory);
        Set<Float> found = new TreeSet<>();
        for (int i = 0; i < weights.capacity(); i++) {
            if ((long) i * Float.BYTES / BLOCK_BYTES % 2 == 0) {
                found.add(weights.get(i));
            }
        }
        return found;
    }

    /** The pieces of a gradient are pushed at the same time, and none of them may count twice. */
    @Test
    void gradientInDoubtFailsOnceAndCountsAtMostOnceAfterItsShardWasRestarted() throws Exception {
        Programs.requireLearners();
        List<Running> running = new ArrayList<>(
            List.of(serve(0, 0, "asp", "checkpoint"), serve(1, 0, "asp", "checkpoint")));
        Shards shards = Command.ready("m", running);
        Path directory = sandbox.directory("d");
        Command.mounted(sandbox, shards, directory, "--exchange", "sync", "--reconnect", "1s");
        Running learner = sandbox.start("learner", "python3", "-c", REPEAT, directory.resolve("model"));
        learner.awaitLine("written");
        // Shard 0 accepts its part of the gradient, but the fsync fails because of shard 1.
        running.get(1).signal("TERM");
        running.get(1).awaitEnd();
        fsync(learner, 1, "EIO");
        running.set(1, serve(1, shards.ports().get(1), "asp", "checkpoint"));
        running.get(1).awaitLine("ready: ");
        restart(running, shards, 0);
        fsync(learner, 2, "ESTALE");
        assertThat(weightsOfFirstShard(directory)).contains(1f).isSubsetOf(0f, 1f);
        fsync(learner, 3, "0");
        assertThat(weightsOfFirstShard(directory)).contains(2f).isSubsetOf(1f, 2f);
    }

    private static void awaitIterations(Running learner, int more) {
        learner.awaitLines("iteration ", iteration(learner) + more);
    }

    private static int iteration(Running learner) {
        return learner.lines("iteration ").size();
    }
}
