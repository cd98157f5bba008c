package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests shards with backups while two learners train. The coordinator, the primary and the backup of each of two shards, two
 * mounts, and the learners are separate processes. Gradients are small whole numbers, so the final weights are exact and do not
 * depend on the order of the pushes.
 */
@Tag("mount")
@Timeout(600)
final class ReplicaIT {
    private static final int SIZE_BYTES = (1 << 20) + 8192;
    private static final int SHARDS = 2;
    private static final int LEARNERS = 2;
    /** The gradient of weight i from learner l in round r is ((3 * r + l) modulo this number) * (i modulo 5). */
    private static final int MODULUS = 7;

    /** A learner that trains until the file {@code stop} exists, and prints each round. */
    private static final String LEARNER = """
        import array, os, sys, time
        path, learner, stop = sys.argv[1], int(sys.argv[2]), sys.argv[3]
        model = os.open(path, os.O_RDWR)
        size = os.fstat(model).st_size
        places = [i % 5 for i in range(size // 4)]
        gradients = [array.array('f', [p * v for p in places]).tobytes() for v in range(7)]
        done = 0
        while not os.path.exists(stop) or done < int(open(stop).read()):
            done += 1
            if os.pwrite(model, gradients[(done * 3 + learner) % 7], 0) != size:
                sys.exit('pwrite wrote only a part of the gradient')
            os.fsync(model)
            print('round', done, flush=True)
            if len(os.pread(model, size, 0)) != size:
                sys.exit('pread returned only a part of the weights')
            # The pause leaves processor time for the processes that take over.
            time.sleep(0.02)
        print('finished', flush=True)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private final List<List<Running>> processes = new ArrayList<>();
    private final List<Running> learners = new ArrayList<>();
    private String coordinator;
    private String consistency;
    /** The options with which the shards save checkpoints. */
    private Object[] checkpoints = {};

    private void start(String mode) throws Exception {
        Programs.requireLearners();
        consistency = mode;
        coordinator = Command.address(Command.coordinator(sandbox, "127.0.0.1:0"));
        for (int i = 0; i < SHARDS; i++) {
            // With bsp, shards with checkpoints wait for each other, so they must start at the same time.
            processes.add(new ArrayList<>(List.of(serve(i))));
        }
        for (int i = 0; i < SHARDS; i++) {
            processes.get(i).getFirst().awaitLine("ready: ");
            processes.get(i).add(serve(i));
        }
        for (int i = 0; i < SHARDS; i++) {
            awaitBackup(i);
        }
        Path script = sandbox.file("learner.py", LEARNER);
        for (int i = 0; i < LEARNERS; i++) {
            mount(i).awaitLine("ready: ");
            learners.add(sandbox.start("learner" + i, "python3", script, sandbox.path("d" + i).resolve("model"), i,
                sandbox.path("stop")));
        }
    }

    private Running serve(int shard) throws Exception {
        return Command.serve(sandbox, "--model", "m", "--shard", shard + "/" + SHARDS, "--size", SIZE_BYTES,
            "--block-size", "64KiB", "--aggregator", "sum", "--consistency", consistency, "--learners", LEARNERS,
            "--lease", "60s", "--coordinator", coordinator, "--coordinator-session", "4s", "--durability", "replica",
            checkpoints);
    }

    private String url() {
        return "modeldisk+zk://" + coordinator + "/m";
    }

    private Running mount(int i) throws Exception {
        return sandbox.start("mount" + i,
            modeldisk("mount", url(), sandbox.directory("d" + i), "--foreground", "--learner",
                "l" + i, "--exchange", "sync", "--reconnect", "60s"));
    }

    private String status() throws Exception {
        return sandbox.run(modeldisk("status", url())).output();
    }

    private void awaitBackup(int shard) throws Exception {
        await(() -> "shard " + shard + " has a backup in sync", Duration.ofSeconds(60),
            () -> status().lines().anyMatch(line -> line.startsWith("shard " + shard + ": backup at")
                && line.contains(" is in sync")));
    }

    /** Returns the current primary: the live process with the highest epoch. */
    private Running primary(int shard) {
        return processes.get(shard).stream().filter(each -> each.process().isAlive())
            .max((a, b) -> Long.compare(epoch(a), epoch(b))).orElseThrow();
    }

    private static long epoch(Running process) {
        return process.output().lines().filter(line -> line.contains("primary of epoch "))
            .mapToLong(line -> Long.parseLong(line.replaceFirst(".*primary of epoch ", ""))).max().orElse(0);
    }

    private static long rounds(Running learner) {
        return learner.lines("round ").size();
    }

    private void awaitRounds(long more) {
        for (Running learner : learners) {
            learner.awaitLines("round ", rounds(learner) + more);
        }
    }

    /** Makes the learners exit after the same round, and compares all weights with the weights of a run without faults. */
    private void assertFinalWeights() throws Exception {
        long last = learners.stream().mapToLong(ReplicaIT::rounds).max().orElseThrow() + 20;
        Path stop = sandbox.file("stop.new", Long.toString(last));
        Files.move(stop, sandbox.path("stop"));
        for (Running learner : learners) {
            assertThat(learner.awaitEnd()).as(learner.output()).isZero();
            assertThat(learner.output()).endsWith("finished\n");
            assertThat(rounds(learner)).isEqualTo(last);
        }
        assertWeights(last);
    }

    private void assertWeights(long last) throws Exception {
        double sum = 0;
        for (long round = 1; round <= last; round++) {
            for (int learner = 0; learner < LEARNERS; learner++) {
                sum += (round * 3 + learner) % MODULUS / (consistency.equals("bsp") ? (double) LEARNERS : 1);
            }
        }
        FloatBuffer weights = Weights.in(sandbox.path("d0"));
        for (int i = 0; i < SIZE_BYTES / Float.BYTES; i++) {
            assertThat(weights.get(i)).as("weight %d after %d rounds", i, last).isEqualTo((float) (sum * (i % 5)));
        }
    }

    @Test
    void aspTrainingContinuesWhenAPrimaryIsKilled() throws Exception {
        start("asp");
        awaitRounds(10);
        primary(1).signal("KILL");
        awaitRounds(10);
        assertFinalWeights();
    }

    @Test
    void bspTrainingContinuesWhilePrimariesArePausedHandedOverAndKilled() throws Exception {
        start("bsp");
        assertOtherOptionsRefused();
        awaitRounds(5);
        // After a pause that is longer than its coordinator session, a process must no longer be the primary.
        Running paused = primary(0);
        paused.signal("STOP");
        awaitRounds(10);
        paused.signal("CONT");
        awaitBackup(0);
        assertThat(primary(0)).isNotSameAs(paused);

        Running first = primary(1);
        Result handover = sandbox.run(modeldisk("handover", url(), "--shard", 1));
        assertThat(handover.status()).as(handover.output()).isZero();
        assertThat(handover.output()).containsPattern("epoch \\d+: another process is the primary of shard 1\n");
        awaitRounds(5);
        Running second = primary(1);
        assertThat(second).isNotSameAs(first);
        awaitBackup(1);

        // Both processes of the shard exit, one after the other.
        second.signal("TERM");
        awaitRounds(5);
        assertThat(primary(1)).isSameAs(first);
        Running third = serve(1);
        processes.get(1).add(third);
        awaitBackup(1);
        first.signal("KILL");
        awaitRounds(5);
        assertThat(primary(1)).isSameAs(third);
        assertFinalWeights();
    }

    private void assertOtherOptionsRefused() throws Exception {
        sandbox
            .run(modeldisk("serve", "--listen", "127.0.0.1:0", "--model", "m", "--shard", "0/2", "--size", SIZE_BYTES,
                "--block-size", "64KiB", "--aggregator", "sgd:lr=1", "--consistency", "bsp", "--learners", LEARNERS,
                "--coordinator", coordinator, "--coordinator-session", "4s", "--durability", "replica"))
            .failed("aggregator");
    }

    @Test
    void allShardsGoBackToTheCheckpointWhenOneShardLosesAllProcesses() throws Exception {
        checkpoints = new Object[]{"--state", sandbox.directory("state"), "--replace-after", "1s"};
        start("bsp");
        awaitRounds(5);
        Result checkpoint = sandbox.run(modeldisk("checkpoint", url()));
        assertThat(checkpoint.status()).as(checkpoint.output()).isZero();
        awaitRounds(5);
        for (Running process : processes.get(1)) {
            process.signal("KILL");
        }
        processes.get(1).add(serve(1));
        for (Running learner : learners) {
            assertThat(learner.awaitEnd()).isNotZero();
            assertThat(learner.output()).contains("OSError: [Errno 5]");
        }
        String newest = status().lines().filter(line -> line.startsWith("the newest checkpoint is")).findFirst()
            .orElseThrow();
        assertWeights(Long.parseLong(newest.replaceFirst(".* of round (\\d+),.*", "$1")));
    }
}
