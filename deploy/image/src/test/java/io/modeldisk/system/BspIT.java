package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the consistency mode bsp with two shards, two mounts and two learners, each in a separate process. Every value of every
 * gradient is 1, and the learning rate is 1, so each applied round decreases every weight by 1.
 */
@Tag("mount")
@Timeout(120)
final class BspIT {
    /** The size of the model. Both shards have blocks, and the size is not a multiple of the logical block size. */
    private static final int SIZE_BYTES = (1 << 20) + 5000;

    /**
     * A learner that trains at least the given number of rounds, and then until the file {@code stop} exists. The learner prints
     * each round and checks that the weights of all shards are from the same round.
     */
    private static final String LEARNER = """
        import os, struct, sys
        path, rounds, stop = sys.argv[1], int(sys.argv[2]), sys.argv[3]
        block = 65536
        model = os.open(path, os.O_RDWR)
        size = os.fstat(model).st_size
        ones = struct.pack('<f', 1.0) * (size // 4)
        done = 0
        while done < rounds or not os.path.exists(stop):
            if os.pwrite(model, ones, 0) != size:
                sys.exit('pwrite wrote only a part of the gradient')
            os.fsync(model)
            weights = os.pread(model, size, 0)
            found = []
            for shard in (0, 1):
                part = b''.join(weights[i:i + block] for i in range(shard * block, size, 2 * block))
                if part != part[:4] * (len(part) // 4):
                    sys.exit('the weights of one shard are of different rounds')
                found.append(-int(struct.unpack('<f', part[:4])[0]))
            if found[0] != found[1]:
                sys.exit('the shards are at different rounds: %s' % found)
            done += 1
            print('round', done, found[0], flush=True)
        print('finished', flush=True)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Shards shards;
    private Path script;
    private String exchange = "sync";

    private void serve() throws Exception {
        Programs.requireMounting();
        Programs.require("python3", "python3");
        script = sandbox.file("learner.py", LEARNER);
        shards = Command.serveAll(sandbox, "m", 2, "--size", SIZE_BYTES, "--block-size", "64KiB", "--aggregator",
            "sgd:lr=1",
            "--consistency", "bsp", "--learners", 2, "--lease", 1);
    }

    /** Starts the mount of learner {@code i} without waiting until the mount is ready. */
    private Running mount(int i) throws Exception {
        return Command.mount(sandbox, shards, sandbox.directory("d" + i), "--learner", "l" + i, "--exchange", exchange);
    }

    private Running learner(int i, int rounds) throws Exception {
        return sandbox.start("learner" + i, "python3", script.toString(),
            sandbox.path("d" + i).resolve("model").toString(),
            Integer.toString(rounds), sandbox.path("stop" + i).toString());
    }

    private void stop(int i) throws Exception {
        sandbox.file("stop" + i, "");
    }

    private static long rounds(Running learner) throws Exception {
        return learner.output().lines().filter(line -> line.startsWith("round ")).count();
    }

    private static void awaitRounds(Running learner, long more) throws Exception {
        long wanted = rounds(learner) + more;
        await("the learner pushes " + wanted + " rounds",
            () -> rounds(learner) >= wanted || !learner.process().isAlive());
        assertThat(learner.process().isAlive()).as(learner.output()).isTrue();
    }

    private static void assertFinished(Running learner) throws Exception {
        assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        assertThat(learner.output()).endsWith("finished\n");
    }

    /** Asserts that exactly {@code rounds} rounds have been applied to every weight. */
    private void assertRounds(int mount, long rounds) throws Exception {
        byte[] weights = Files.readAllBytes(sandbox.path("d" + mount).resolve("weights"));
        FloatBuffer floats = ByteBuffer.wrap(weights).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        while (floats.hasRemaining()) {
            assertThat(floats.get()).as("weight %d", floats.position() - 1).isEqualTo(-rounds);
        }
    }

    @Test
    void pullWaitsUntilBothLearnersHavePushedTheRound() throws Exception {
        serve();
        Running firstMount = mount(0);
        Running secondMount = mount(1);
        firstMount.awaitLine("ready: ");
        secondMount.awaitLine("ready: ");
        stop(0);
        stop(1);
        Running first = learner(0, 20);
        await("the first learner's pull waits", () -> waiting(1) > 0);
        assertThat(rounds(first)).isZero();
        Running second = learner(1, 20);
        assertFinished(first);
        assertFinished(second);
        assertRounds(0, 20);
        assertThat(first.output()).isEqualTo(second.output()).contains("round 20 20");
    }

    /** Returns the number of tasks that wait on the shards, as the mount's status reports it. */
    private long waiting(int mount) throws Exception {
        long waiting = 0;
        String text = Files.readString(sandbox.path("d" + mount).resolve("status.json"));
        for (JsonNode shard : new ObjectMapper().readTree(text).path("shards")) {
            waiting += shard.path("waiting").asLong();
        }
        return waiting;
    }

    /** The learner {@code victim} is killed at a random time within a round. The seed determines the time. */
    @ParameterizedTest
    @CsvSource({"0, 1, sync", "1, 2, sync", "0, 5, overlap", "1, 6, overlap"})
    void otherLearnersContinueWhenALearnerIsKilledAndReplaced(int victim, long seed, String scheme)
        throws Exception {
        exchange = scheme;
        Random random = new Random(seed);
        serve();
        Running firstMount = mount(0);
        Running secondMount = mount(1);
        firstMount.awaitLine("ready: ");
        secondMount.awaitLine("ready: ");
        Running survivor = learner(1 - victim, 1);
        Running dying = learner(victim, 1);
        for (int i = 0; i < 4; i++) {
            awaitRounds(dying, 1 + random.nextInt(20));
            TimeUnit.MICROSECONDS.sleep(random.nextInt(20_000));
            dying.signal("KILL");
            dying.awaitEnd();
            awaitRounds(survivor, 3);
            dying = learner(victim, 1);
        }
        awaitRounds(dying, 3);
        stop(victim);
        assertFinished(dying);
        awaitRounds(survivor, 1);
        stop(1 - victim);
        assertFinished(survivor);
        assertRounds(1 - victim, rounds(survivor));
    }

    @ParameterizedTest
    @CsvSource({"0, 3, sync", "1, 4, sync", "0, 7, overlap", "1, 8, overlap"})
    void otherLearnersContinueWhenAMountIsKilledAndReplaced(int victim, long seed, String scheme)
        throws Exception {
        exchange = scheme;
        Random random = new Random(seed);
        serve();
        Running dyingMount = mount(victim);
        Running survivingMount = mount(1 - victim);
        dyingMount.awaitLine("ready: ");
        survivingMount.awaitLine("ready: ");
        Running survivor = learner(1 - victim, 1);
        Running dying = learner(victim, 1);
        for (int i = 0; i < 2; i++) {
            awaitRounds(dying, 1 + random.nextInt(20));
            TimeUnit.MICROSECONDS.sleep(random.nextInt(20_000));
            dyingMount.signal("KILL");
            dyingMount.awaitEnd();
            assertThat(dying.awaitEnd()).as("a learner without a mount fails").isNotZero();
            awaitRounds(survivor, 3);
            sandbox.run(modeldisk("unmount", sandbox.path("d" + victim))).succeeded();
            dyingMount = mount(victim);
            dyingMount.awaitLine("ready: ");
            dying = learner(victim, 1);
        }
        awaitRounds(dying, 3);
        stop(victim);
        assertFinished(dying);
        awaitRounds(survivor, 1);
        stop(1 - victim);
        assertFinished(survivor);
        assertRounds(1 - victim, rounds(survivor));
    }

    @Test
    void newLearnerPullsTheSameRoundFromAllShards() throws Exception {
        shards = Shards.launch(sandbox, "m", 2, 8192,
            context -> context.blockSizeBytes(4096).consistency("bsp").lease(Duration.ofMillis(100)));
        StripedModel founder = connect("founder");
        DataMemory ones = sandbox.closeAfterwards(DataMemory.allocate(8192));
        for (long at = 0; at < 8192; at += 4) {
            ones.slab(0).set(ValueLayout.JAVA_FLOAT, at, 1);
        }
        founder.push(0, ones, 0, 8192, Cancellation.NONE);
        // The new learner joins when the first learner has pushed only a part of round 2.
        founder.push(0, ones, 0, 4096, Cancellation.NONE);
        StripedModel newcomer = connect("newcomer");
        DataMemory weights = sandbox.closeAfterwards(DataMemory.allocate(8192));
        CompletableFuture<Void> iteration = CompletableFuture.runAsync(() -> {
            try {
                newcomer.push(0, ones, 0, 8192, Cancellation.NONE);
                newcomer.pull(0, weights, 0, 8192, Cancellation.NONE);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        // The first learner pushes the rest of round 2, and then round 3, in which the new learner participates on both shards.
        founder.push(4096, ones, 0, 4096, Cancellation.NONE);
        founder.push(0, ones, 0, 8192, Cancellation.NONE);
        iteration.get(30, TimeUnit.SECONDS);
        assertThat(weights.slab(0).get(ValueLayout.JAVA_FLOAT, 0))
            .isEqualTo(weights.slab(0).get(ValueLayout.JAVA_FLOAT, 4096));
    }

    private StripedModel connect(String learner) throws Exception {
        StripedModel model = sandbox.closeAfterwards(StripedModel.connect(
            new StripedModelContext(ModelAddress.parse(shards.address())).learner(learner)
                .waitTimeout(Duration.ofSeconds(5))));
        model.join();
        return model;
    }
}
