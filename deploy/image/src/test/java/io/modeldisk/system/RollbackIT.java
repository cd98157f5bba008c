package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stops shards while two learners train with bsp. The shards then start again from their last round or from a checkpoint. */
@Timeout(300)
@Tag("mount")
final class RollbackIT {
    /** The value by which the weights must grow after the shards have started from the checkpoint. */
    private static final int GROWTH = 300;

    /**
     * A learner whose gradient depends on the weight w: {@code factor * (w % 5 + 1)}. It trains until the weights reach the
     * number in a file, and repeats an iteration after EIO and ESTALE. It prints the weight of each iteration and, at the end,
     * the number of EIO errors and of rollbacks.
     */
    private static final String LEARN = """
        import errno, os, sys, time
        import numpy as np
        path, factor, target, whole = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] != 'direct'
        fd = os.open(path, os.O_RDWR)
        size = os.fstat(fd).st_size
        errors = 0
        while True:
            weights = np.frombuffer(os.pread(fd, size, 0), np.float32)
            now = weights[0]
            assert not whole or (weights == now).all(), (now, weights.min(), weights.max())
            print(int(now), flush=True)
            if os.path.exists(target) and now >= int(open(target).read()):
                break
            # The pause leaves processor time for the shards.
            time.sleep(0.02)
            os.pwrite(fd, np.full(size // 4, factor * (now % 5 + 1), np.float32).tobytes(), 0)
            try:
                os.fsync(fd)
            except OSError as failure:
                assert failure.errno in (errno.EIO, errno.ESTALE), failure
                errors += failure.errno == errno.EIO
        os.close(fd)
        back = os.getxattr(path, 'user.modeldisk.rollbacks').decode()
        print('done with', errors, 'errors and', back, 'rollbacks')
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();
    private final List<Running> mounts = new ArrayList<>();
    private final List<Running> learners = new ArrayList<>();

    private Running serve(int shard, int port) throws Exception {
        return Command.serveAt(sandbox, port, "--model", "m", "--shard", shard + "/2", "--size", "2MiB", "--aggregator",
            "sum", "--consistency", "bsp", "--learners", "2", "--state", sandbox.path("state"), "--checkpoint-every",
            "1h");
    }

    @ParameterizedTest
    @CsvSource({"overlap, fail", "sync, continue", "direct, fail", "direct, continue"})
    void learnersContinueFromTheLastRoundOrFromTheCheckpoint(String scheme, String onRollback) throws Exception {
        Programs.requireLearners();
        List<Running> running = List.of(serve(0, 0), serve(1, 0));
        Shards shards = Command.ready("m", running);
        startLearners(shards, scheme, onRollback);
        awaitWeights(60);
        // Shards that stop after SIGTERM and start again lose no round.
        for (Running shard : running) {
            shard.signal("TERM");
        }
        for (Running shard : running) {
            shard.awaitEnd();
        }
        serve(0, shards.ports().get(0));
        Running second = serve(1, shards.ports().get(1));
        awaitWeights(last(sandbox.path("learner0").resolve("weights")) + 60);
        String folder = sandbox.run(modeldisk("checkpoint", shards.address())).succeeded().strip();
        float checkpoint = last(Path.of(folder).resolve("model-00001-of-00001.safetensors"));
        assertThat(undisturbed(0, scheme, checkpoint)).contains(checkpoint);
        awaitWeights(checkpoint + 60);
        second.kill();
        int target = target();
        serve(1, shards.ports().get(1));

        for (int i = 0; i < 2; i++) {
            assertThat(learners.get(i).awaitEnd()).as(learners.get(i).output()).isZero();
            assertThat(learners.get(i).output()).as(mounts.get(i).output())
                .contains("done with " + (onRollback.equals("fail") ? 1 : 0) + " errors and 1 rollbacks");
            assertThat(mounts.get(i).output()).containsPattern("takes back \\d+ rounds? of this learner");
        }
        assertThat(last(sandbox.path("learner0").resolve("weights")))
            .isEqualTo(undisturbed(checkpoint, scheme, target).getLast());
    }

    private void startLearners(Shards shards, String scheme, String onRollback) throws Exception {
        for (int i = 0; i < 2; i++) {
            Path directory = sandbox.directory("learner" + i);
            Running mount = Command.mount(sandbox, shards, directory, "--learner", "l" + i, "--exchange", scheme,
                "--on-rollback", onRollback, "--reconnect", "60s");
            await("the mount is ready", () -> Files.exists(directory.resolve("model")));
            mounts.add(mount);
            learners.add(sandbox.start("learner", "python3", "-c", LEARN, directory.resolve("model"), 2 + 2 * i,
                sandbox.path("target"), scheme));
        }
    }

    private void awaitWeights(float atLeast) {
        Path weights = sandbox.path("learner0").resolve("weights");
        await("the weights reach " + atLeast, () -> last(weights) >= atLeast);
    }

    /**
     * Writes the weight at which the learners exit to the file {@code target}, and returns it. The learners wait for a shard
     * meanwhile, so neither of them has passed this weight.
     */
    private int target() throws Exception {
        int target = GROWTH + learners.stream().flatMap(learner -> learner.output().lines())
            .mapToInt(Integer::parseInt).max().orElseThrow();
        Files.move(sandbox.file("target.new", Integer.toString(target)), sandbox.path("target"));
        return target;
    }

    /** Returns the last float32 of a file. */
    private static float last(Path file) throws Exception {
        byte[] content = Files.readAllBytes(file);
        return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getFloat(content.length - Float.BYTES);
    }

    /** Returns the mean of the gradients that both learners compute from a weight. */
    private static float gradient(float weight) {
        return 3 * (weight % 5 + 1);
    }

    /**
     * Returns the weight after each round of a run without faults. The run starts at {@code first}, and ends when a learner has a
     * weight of at least {@code target}. With overlap, iteration k uses the weight after k - 2 rounds.
     */
    private static List<Float> undisturbed(float first, String scheme, float target) {
        List<Float> rounds = new ArrayList<>(List.of(first));
        float used = first;
        while (used < target) {
            float applied = rounds.getLast();
            rounds.add(applied + gradient(used));
            used = scheme.equals("overlap") ? applied : rounds.getLast();
        }
        return rounds;
    }
}
