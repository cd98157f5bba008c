package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests followers, that is, read-only mounts, while two learners train with bsp. */
@Timeout(300)
@Tag("mount")
final class FollowerIT {
    private static final Duration LONG = Duration.ofSeconds(150);

    /**
     * A learner that pushes gradients of ones until the weights reach a target. The learner repeats an iteration after EIO and
     * ESTALE.
     */
    private static final String LEARN = """
        import errno, os, sys, time
        import numpy as np
        path, target, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
        fd = os.open(path, os.O_RDWR)
        size = os.fstat(fd).st_size
        while np.frombuffer(os.pread(fd, 4, 0), np.float32)[0] < target:
            time.sleep(pause)
            os.pwrite(fd, np.ones(size // 4, np.float32).tobytes(), 0)
            try:
                os.fsync(fd)
            except OSError as failure:
                assert failure.errno in (errno.EIO, errno.ESTALE), failure
        os.close(fd)
        print('done')
        """;

    /**
     * A program that reads the model through a follower. It prints each version that wakes it, and exits at the last version, or
     * prints the errno of a failed call and exits. With the aggregator sum and gradients of ones, each weight equals the version
     * of its block.
     */
    private static final String FOLLOW = """
        import os, select, sys
        import numpy as np
        directory, last = sys.argv[1], int(sys.argv[2])
        version = os.open(directory + '/version', os.O_RDONLY)
        poll = select.poll()
        poll.register(version, select.POLLIN | select.POLLPRI)
        number = -1
        try:
            while number < last:
                assert poll.poll(120_000), 'no version after ' + str(number)
                number = int(os.pread(version, 100, 0))
                with open(directory + '/model', 'rb') as file:
                    weights = np.frombuffer(file.read(), np.float32)
                # The learners push during the read, so weights can be newer than the version, but not older.
                assert sys.argv[3] == 'back' or weights.min() >= number, (number, weights.min())
                print('version', number, flush=True)
        except OSError as failure:
            print('error', failure.errno)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();
    private final List<Running> learners = new ArrayList<>();

    private Running serve(int shard, int port) throws Exception {
        return Command.serveAt(sandbox, port, "--model", "m", "--shard", shard + "/2", "--size", "2MiB", "--aggregator",
            "sum", "--consistency", "bsp", "--learners", "2", "--state", sandbox.path("state"), "--checkpoint-every",
            "1h");
    }

    private Shards serveBoth() throws Exception {
        Programs.requireLearners();
        return Command.ready("m", List.of(serve(0, 0), serve(1, 0)));
    }

    private Path mount(Shards shards, String name, Object... options) throws Exception {
        Path directory = sandbox.directory(name);
        Command.mounted(sandbox, shards, directory, options);
        return directory;
    }

    private Path follower(Shards shards, String name, String binding) throws Exception {
        return mount(shards, name, "--read-only", "--binding", binding, "--reconnect", "60s");
    }

    private void startLearners(Shards shards, int target, double pause) throws Exception {
        for (int i = 0; i < 2; i++) {
            Path directory = mount(shards, "learner" + i, "--learner", "l" + i, "--reconnect", "60s");
            learners.add(sandbox.start("learner", "python3", "-c", LEARN, directory.resolve("model"), target, pause));
        }
    }

    private Running follow(Path directory, int last, String back) throws Exception {
        return sandbox.start("follower", "python3", "-c", FOLLOW, directory, last, back);
    }

    private void awaitLearners() {
        for (Running learner : learners) {
            await(() -> "the learner has ended; its output is: " + learner.output(), LONG,
                () -> !learner.process().isAlive());
            assertThat(learner.output()).endsWith("done\n");
        }
    }

    private static List<Integer> versions(Running follower) {
        return follower.lines("version ").stream().map(line -> Integer.parseInt(line.substring(8))).toList();
    }

    private JsonNode status(Shards shards) throws Exception {
        return new ObjectMapper().readTree(sandbox.run(modeldisk("status", "--json", shards.address())).succeeded());
    }

    @Test
    void followerContinuesAfterTheShardsGoBackToACheckpoint() throws Exception {
        Programs.requireLearners();
        List<Running> running = List.of(serve(0, 0), serve(1, 0));
        Shards shards = Command.ready("m", running);
        Path directory = follower(shards, "follower", "kernel");
        startLearners(shards, 150, 0.05);
        Running follower = follow(directory, 150, "back");
        await("the follower sees the learners", () -> versions(follower).contains(20)
            || versions(follower).stream().anyMatch(version -> version > 20));
        sandbox.run(modeldisk("checkpoint", shards.address())).succeeded();
        int saved = versions(follower).getLast();
        await("the learners continue", () -> versions(follower).getLast() > saved + 20);
        running.get(1).kill();
        serve(1, shards.ports().get(1));

        awaitLearners();
        assertThat(follower.awaitEnd()).as(follower.output()).isZero();
        List<Integer> seen = versions(follower);
        assertThat(seen.getLast()).isEqualTo(150);
        long back = 0;
        for (int i = 1; i < seen.size(); i++) {
            back += seen.get(i) < seen.get(i - 1) ? 1 : 0;
        }
        assertThat(back).as(seen.toString()).isEqualTo(1);
    }

    @Test
    void stoppedOrKilledFollowersDoNotDelayLearners() throws Exception {
        Shards shards = serveBoth();
        List<Path> directories = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            directories.add(follower(shards, "follower" + i, i == 2 ? "jnr" : "kernel"));
        }
        List<Running> followers = new ArrayList<>();
        for (Path directory : directories) {
            followers.add(follow(directory, 1_000_000, "on"));
        }
        startLearners(shards, 200, 0.01);
        await("all followers see the learners",
            () -> followers.stream().allMatch(each -> versions(each).stream().anyMatch(version -> version > 10)));
        JsonNode status = status(shards);
        for (JsonNode shard : status) {
            assertThat(shard.path("followers").asInt()).isEqualTo(3);
            assertThat(shard.path("learners").findValuesAsText("learner")).containsExactlyInAnyOrder("l0", "l1");
        }
        // Stops the mount and the program of the first follower in the middle of a read, and kills those of the second follower.
        signalMount(directories.get(0), "STOP");
        followers.get(0).signal("STOP");
        followers.get(1).signal("KILL");
        signalMount(directories.get(1), "KILL");
        awaitLearners();
        await("the remaining follower sees the last version", () -> versions(followers.get(2)).getLast() == 200);
        signalMount(directories.get(0), "CONT");
        followers.get(0).signal("CONT");
        await("the follower that was stopped sees the last version", () -> versions(followers.get(0)).getLast() == 200);
    }

    private void signalMount(Path directory, String signal) throws Exception {
        for (ProcessHandle process : sandbox.processes()) {
            String command = process.info().commandLine().orElse("");
            if (command.contains(directory + " ") && command.contains("--read-only")) {
                new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).inheritIO().start().waitFor();
            }
        }
    }

    @Test
    void followerGetsEstaleAfterTheModelSizeChanges() throws Exception {
        Programs.requireLearners();
        Running shard = Command.serve(sandbox, "--model", "m", "--size", "2MiB", "--aggregator", "sum");
        Shards shards = Command.ready("m", List.of(shard));
        Path directory = sandbox.directory("follower");
        Running mount = Command.mounted(sandbox, shards, directory, "--read-only", "--reconnect", "60s");
        Running follower = follow(directory, 1, "on");
        follower.awaitLine("version 0");
        shard.kill();
        Command.serveAt(sandbox, shards.ports().getFirst(), "--model", "m", "--size", "4MiB", "--aggregator", "sum")
            .awaitLine("ready: ");

        assertThat(follower.awaitEnd()).isZero();
        assertThat(follower.output()).isEqualTo("version 0\nerror 116\n");
        assertThat(sandbox.shell("cat $1/model | wc -c", directory).output()).contains("Stale file handle");
        assertThat(mount.output())
            .contains("was restarted with another model of the name m: its size is 4194304, but it was"
                + " 2097152 when this process connected; unmount the model and mount it again");
        assertThat(Files.exists(directory.resolve("partition"))).isFalse();
    }
}
