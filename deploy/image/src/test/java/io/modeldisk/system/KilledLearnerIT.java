package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Kills learners and mounts while two learners train on two shards. Each of them is a separate process. All gradient values are
 * 1, and the learning rate is 1. With bsp, each round therefore decreases every weight by 1. With asp and ssp, the weights that a
 * learner pulls might lack rounds of the other learner.
 */
@Tag("mount")
@Timeout(300)
final class KilledLearnerIT {
    /** The size of the model. Both shards have blocks, and the size is not a multiple of the logical block size. */
    private static final int SIZE_BYTES = (1 << 20) + 5000;
    private static final int LEASE_S = 1;
    private static final int PAUSE_S = 6;

    /**
     * A learner that pushes gradients of ones until the file {@code stop} exists. The learner checks that no update is lost, and
     * that all weights of a logical block are equal. With bsp, it checks that all weights of the model are equal.
     */
    private static final String LEARNER = """
        import os, struct, sys, time
        path, stop, whole = sys.argv[1], sys.argv[2], sys.argv[3] == 'bsp'
        model = os.open(path, os.O_RDWR)
        size = os.fstat(model).st_size
        ones = struct.pack('<f', 1.0) * (size // 4)
        done, before = 0, None
        while not os.path.exists(stop):
            try:
                for i in range(0, size, 65536):
                    os.pwrite(model, ones[i:i + 65536], i)
                os.fsync(model)
            except OSError as e:
                print('errno', e.errno, flush=True)
                sys.exit(1)
            # Each pread is one request to the mount, and with direct one pull. The kernel does not split a request within a page.
            weights = b''.join(os.pread(model, 65536, i) for i in range(0, size, 65536))
            pages = [weights[i:i + 4096] for i in range(0, size, 4096)]
            for page in pages:
                if page != page[:4] * (len(page) // 4):
                    sys.exit('a logical block is torn')
            values = [-struct.unpack('<f', page[:4])[0] for page in pages]
            if whole and len(set(values)) > 1:
                sys.exit('the weights are of different rounds: %s' % set(values))
            if before and any(now < then for now, then in zip(values, before)):
                sys.exit('an update was lost')
            done, before = done + 1, values
            # The pause leaves processor time for the other processes of the test.
            time.sleep(0.02)
            print('round', done, flush=True)
        print('finished', flush=True)
        """;

    /** A learner that pushes and pulls once, waits until the file {@code go} exists, and then pushes and pulls again. */
    private static final String SLOW_LEARNER = """
        import os, sys, time
        path, go = sys.argv[1], sys.argv[2]
        model = os.open(path, os.O_RDWR)
        def iterate():
            for i in range(0, 1 << 20, 65536):
                os.pwrite(model, bytes(65536), i)
            os.fsync(model)
            os.pread(model, 65536, 0)
        iterate()
        print('computing', flush=True)
        while not os.path.exists(go):
            time.sleep(0.01)
        iterate()
        print('finished', flush=True)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private List<Running> processes;
    private Shards shards;
    private Path script;
    private String consistency;
    private String exchange;

    private void serve(String mode, String scheme, int minLearners, int leaseS) throws Exception {
        consistency = mode;
        exchange = scheme;
        Programs.requireLearners();
        script = sandbox.file("learner.py", LEARNER);
        processes = Command.startAll(sandbox, "m", 2, "--size", SIZE_BYTES, "--block-size", "64KiB", "--aggregator",
            "sgd:lr=1", "--consistency", consistency, "--learners", 2, "--min-learners", minLearners, "--lease",
            leaseS);
        shards = Command.ready("m", processes);
    }

    private Running mount(int i, Object... options) throws Exception {
        return Command.mounted(sandbox, shards, sandbox.directory("d" + i), "--learner", "l" + i, "--exchange",
            exchange,
            options);
    }

    private Running learner(int i) throws Exception {
        return sandbox.start("learner" + i, "python3", script, sandbox.path("d" + i).resolve("model"),
            sandbox.path("stop" + i), consistency);
    }

    private static long rounds(Running learner) {
        return learner.lines("round ").size();
    }

    private static void awaitRounds(Running learner, long more) {
        learner.awaitLines("round ", rounds(learner) + more);
    }

    private void assertFinishes(Running learner, int i) throws Exception {
        sandbox.file("stop" + i, "");
        assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        assertThat(learner.output()).endsWith("finished\n");
    }

    /** Waits until the learner has pushed a random number of rounds, and then for a random fraction of the next round. */
    private static void awaitRandomPlace(Running learner, Random random) throws Exception {
        awaitRounds(learner, 3 + random.nextInt(10));
        TimeUnit.MICROSECONDS.sleep(random.nextInt(20_000));
    }

    /** The test kills processes at random times within a round. The seed determines these times. */
    @ParameterizedTest
    @CsvSource({"ssp:0, sync, 1", "ssp:1, overlap, 2", "ssp:2, direct, 3", "bsp, sync, 4", "bsp, overlap, 5"})
    void learnerContinuesWhenAnotherLearnerAndItsMountAreKilled(String mode, String scheme, long seed)
        throws Exception {
        Random random = new Random(seed);
        serve(mode, scheme, 0, LEASE_S);
        Running dyingMount = mount(0);
        mount(1);
        Running survivor = learner(1);
        if (mode.equals("bsp")) {
            await("the pull of the first learner waits for the second learner", () -> waiting(1) > 0);
            assertThat(rounds(survivor)).isLessThanOrEqualTo(scheme.equals("overlap") ? 1 : 0);
        }
        Running dying = learner(0);
        for (int i = 0; i < 2; i++) {
            awaitRandomPlace(dying, random);
            dying.kill();
            awaitRounds(survivor, 5);
            dying = learner(0);
        }
        awaitRandomPlace(dying, random);
        dyingMount.kill();
        assertThat(dying.awaitEnd()).as("a learner without a mount fails").isNotZero();
        awaitRounds(survivor, 5);
        sandbox.run(modeldisk("unmount", sandbox.path("d0"))).succeeded();
        mount(0);
        Running again = learner(0);
        awaitRounds(again, 5);
        awaitRounds(survivor, 3);
        assertFinishes(again, 0);
        awaitRounds(survivor, 1);
        assertFinishes(survivor, 1);
        if (mode.equals("bsp")) {
            Weights.assertAll(sandbox.path("d1"), SIZE_BYTES, -rounds(survivor));
        }
    }

    /** Returns the number of commands that wait in the shards, according to {@code status.json} of the mount. */
    private long waiting(int mount) throws Exception {
        long waiting = 0;
        String text = Files.readString(sandbox.path("d" + mount).resolve("status.json"));
        for (JsonNode shard : new ObjectMapper().readTree(text).path("shards")) {
            waiting += shard.path("waiting").asLong();
        }
        return waiting;
    }

    @ParameterizedTest
    @CsvSource({"bsp, overlap", "asp, direct"})
    void fsyncFailsWhileFewerThanMinLearnersRemain(String mode, String scheme) throws Exception {
        serve(mode, scheme, 2, LEASE_S);
        mount(0);
        mount(1);
        Running dying = learner(0);
        Running survivor = learner(1);
        awaitRounds(dying, 3);
        awaitRounds(survivor, 3);
        dying.kill();
        assertThat(survivor.awaitEnd()).as(survivor.output()).isEqualTo(1);
        assertThat(survivor.output()).doesNotContain("torn", "lost");
        assertThat(Files.readString(sandbox.path("d1").resolve("status.json"))).contains("\"stopped\"",
            "the job has stopped: fewer learners are left than --min-learners");
        assertThat(sandbox.run(modeldisk("status", shards.address())).succeeded())
            .contains("shard 1: the job has stopped", "--min-learners is 2");
        // A learner joins when it opens the model. The job continues after both learners have joined.
        Running first = sandbox.start("first", "bash", "-c", "exec 5<>\"$1\"/model; echo opened; sleep 60", "bash",
            sandbox.path("d0").toString());
        first.awaitLine("opened");
        Running second = sandbox.start("second", "bash", "-c",
            "exec 5<>\"$1\"/model; head -c 4096 /dev/zero >&5; echo opened; sleep 60", "bash",
            sandbox.path("d1").toString());
        second.awaitLine("opened");
        assertThat(sandbox.run(modeldisk("status", shards.address())).succeeded()).doesNotContain("stopped");
    }

    /** The learner computes while the shards are paused, so its sessions are idle when the shards continue. */
    @Test
    void shardKeepsItsLearnersAfterAPauseOfTwiceTheLease() throws Exception {
        serve("ssp:1", "overlap", 0, PAUSE_S / 2);
        mount(0);
        Path slow = sandbox.file("slow.py", SLOW_LEARNER);
        Running learner = sandbox.start("slow", "python3", slow, sandbox.path("d0").resolve("model"),
            sandbox.path("go"));
        learner.awaitLine("computing");
        for (Running shard : processes) {
            shard.signal("STOP");
        }
        TimeUnit.SECONDS.sleep(PAUSE_S);
        for (Running shard : processes) {
            shard.signal("CONT");
        }
        // During this sleep, the shards check the leases. They must not treat their own pause as silence of the learner.
        TimeUnit.SECONDS.sleep(PAUSE_S / 2);
        sandbox.file("go", "");
        assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        assertThat(learner.output()).endsWith("finished\n");
    }

    /** Two shards restart with swapped addresses while a mount is in use. The mount must not push a block to the wrong shard. */
    @Test
    void mountRefusesShardsWithSwappedAddresses() throws Exception {
        serve("asp", "overlap", 0, LEASE_S);
        Running mount = mount(0, "--reconnect", 60);
        Running learner = learner(0);
        awaitRounds(learner, 3);
        Running.kill(processes);
        for (int i = 0; i < 2; i++) {
            sandbox.start("swapped" + i,
                modeldisk("serve", "--model", "m", "--size", SIZE_BYTES, "--block-size", "64KiB",
                    "--aggregator", "sgd:lr=1", "--consistency", "asp", "--learners", 2, "--lease", LEASE_S, "--shard",
                    i + "/2",
                    "--listen", "127.0.0.1:" + shards.ports().get(1 - i)))
                .awaitLine("ready: ");
        }
        assertThat(learner.awaitEnd()).as(learner.output()).isNotZero();
        assertThat(mount.output())
            .containsPattern("127\\.0\\.0\\.1:\\d+ serves shard [01] of model m, but shard [01] was expected");
    }
}
