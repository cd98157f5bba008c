package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Restarts and kills the process of a mount while its learner and a learner of another mount train. The weights in each iteration
 * must be exactly those of an undisturbed run. {@code service_manager.py} acts as systemd.
 */
@Tag("mount")
@Timeout(300)
@Execution(ExecutionMode.SAME_THREAD)
final class MountRestartIT {
    private static final int ITERATIONS = 80;
    private static final int RESTARTS = 2;

    /**
     * A learner that pushes a gradient of n + 1 in iteration n, counted from 0, and checks the weights in each iteration. If
     * {@code lossy} is true, an fsync is allowed to fail with ESTALE, and the learner does not check the weights, because the
     * gradients of some rounds are missing.
     */
    private static final String LEARN = """
        import errno, json, os, sys, time
        import numpy as np
        folder, exchange, through = sys.argv[1:4]
        iterations, lossy = int(sys.argv[4]), sys.argv[5] == 'true'
        lag, sets = (1, 2) if exchange == 'overlap' else (0, 1)
        exact = not lossy
        fd = os.open(folder + ('/mapped/control' if through == 'mapped' else '/model'), os.O_RDWR)
        size = os.fstat(fd).st_size
        if through == 'mapped':
            maps = [[np.memmap(f'{folder}/mapped/{name}.{n}', np.float32, 'r+') for name in ('weights', 'gradient')]
                    for n in range(sets)]
        for n in range(iterations):
            rounds = max(0, n - lag)
            expected = rounds * (rounds + 1) / 2
            weights = maps[n % sets][0] if through == 'mapped' else np.frombuffer(os.pread(fd, size, 0), np.float32)
            assert not exact or (weights == expected).all(), (n, expected, weights.min(), weights.max())
            if through == 'mapped':
                maps[n % sets][1][:] = n + 1
            else:
                value = np.full(size // 4, n + 1, np.float32).tobytes()
                for at in range(0, size, 1 << 19):
                    part = value[at:at + (1 << 19)]
                    assert os.pwrite(fd, part, at) == len(part)
            with open(folder + '/partition') as partition:
                assert json.load(partition)['of'] == 2 or lossy
            try:
                os.fsync(fd)
            except OSError as failure:
                assert lossy and failure.errno == errno.ESTALE, failure
                print('stale', flush=True)
            print('iteration', n, flush=True)
            time.sleep(0.02)
        os.close(fd)
        """;

    /** A program that waits in poll(2) for new versions until the version reaches a given number. */
    private static final String FOLLOW = """
        import os, select, sys
        version = os.open(sys.argv[1] + '/version', os.O_RDONLY)
        poll = select.poll()
        poll.register(version, select.POLLIN)
        seen = -1
        while seen < int(sys.argv[2]):
            assert poll.poll(60_000), seen
            now = int(os.pread(version, 32, 0))
            assert now >= seen, (now, seen)
            seen = now
            print('version', seen, flush=True)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Shards shards;
    private Running manager;
    /** The directory of the mount; null for the directory {@code d0}. */
    private Path directory;

    private void serve(Object... options) throws Exception {
        Programs.requireLearners();
        shards = Shards.launch(sandbox, "m", 2, 2 << 20,
            context -> context.aggregator("sum", Aggregators.parse("sum")).consistency("bsp").learners(2)
                .lease(Duration.ofSeconds(60)));
        startManager(options);
        awaitReady(1);
    }

    private Path directory() throws IOException {
        return directory == null ? sandbox.directory("d0") : directory;
    }

    private void startManager(Object... options) throws Exception {
        Path script = sandbox.path("service_manager.py");
        try (var resource = MountRestartIT.class.getResourceAsStream("/service_manager.py")) {
            Files.write(script, resource.readAllBytes());
        }
        manager = sandbox.start("manager", "python3", script, sandbox.path("notify"), modeldisk("mount",
            shards.address(), directory(), "--foreground", "--restartable", "--reconnect", "60s", options));
    }

    private void awaitReady(int times) {
        await(() -> "the mount has printed " + times + " ready lines\n" + manager.output(), Duration.ofSeconds(60),
            () -> manager.lines("ready: ").size() >= times);
    }

    private void tell(String action) throws IOException {
        manager.process().getOutputStream().write((action + "\n").getBytes(StandardCharsets.UTF_8));
        manager.process().getOutputStream().flush();
    }

    private Running learn(Path folder, String exchange, String through, boolean lossy) throws Exception {
        return sandbox.start("learner", "python3", "-c", LEARN, folder, exchange, through, ITERATIONS, lossy);
    }

    private static long iterations(Running learner) {
        return learner.lines("iteration ").size();
    }

    private void assertEnds(Running process) throws Exception {
        await(process.name() + " ends", Duration.ofSeconds(90), () -> !process.process().isAlive());
        assertThat(process.process().exitValue()).as("%s\n%s", process.output(), manager.output()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"sync, mapped, restart, 1", "overlap, mapped, kill, 2", "overlap, model, restart, 3",
        "direct, model, restart, 4", "sync, model, restart+kill, 5"})
    void learnersContinueWhenTheMountProcessIsReplaced(String exchange, String through, String action, long seed)
        throws Exception {
        Random random = new Random(seed);
        serve("--exchange", exchange);
        Path second = sandbox.directory("d1");
        Command.mounted(sandbox, shards, second, "--exchange", exchange, "--reconnect", "60s");
        // The data of a completed write(2) is lost when the process of the mount is killed.
        String[] actions = action.split("\\+");
        boolean lossy = action.endsWith("kill") && through.equals("model");
        Running learner = learn(directory(), exchange, through, lossy);
        Running other = learn(second, exchange, through, lossy);
        Running follower = sandbox.start("follower", "python3", "-c", FOLLOW, directory(), ITERATIONS - 2 * RESTARTS);
        for (int i = 1; i <= RESTARTS; i++) {
            long wanted = iterations(learner) + 10 + random.nextInt(10);
            await(() -> "iteration " + wanted + "\n" + learner.output() + manager.output(), Duration.ofSeconds(60),
                () -> iterations(learner) >= wanted);
            assertThat(wanted).isLessThan(ITERATIONS);
            tell(actions[(i - 1) % actions.length]);
            awaitReady(1 + i);
        }
        assertEnds(learner);
        assertEnds(other);
        assertEnds(follower);
        long stale = learner.output().lines().filter("stale"::equals).count();
        assertThat(stale).as(learner.output()).isEqualTo(lossy ? RESTARTS / actions.length : 0);
        assertThat(other.output()).doesNotContain("stale");
        assertThat(manager.output()).contains("continues the mount of the previous process, which "
            + (action.endsWith("kill") ? "was killed" : "exited normally"));
    }

    @Test
    void changedOptionsReplaceTheMountAtARestart() throws Exception {
        serve();
        // This stream is never closed, because its close would fail after the restart.
        InputStream open = Files.newInputStream(directory().resolve("status.json"));
        assertThat(open.read()).isEqualTo('{');
        sandbox.file("no.properties", "mount.exchange=overlap\n");
        tell("restart");
        awaitReady(2);
        assertThat(manager.output()).containsPattern(
            "cannot continue the mount of the previous process: its options have changed from .* exchange=sync .*"
                + " to .* exchange=overlap");
        assertThatThrownBy(open::read).isInstanceOf(IOException.class);
        assertThat(Files.readAllBytes(directory().resolve("weights"))).hasSize(2 << 20);
        // A mount whose service is stopped does not unmount the directory. The service manager then closes the stored
        // descriptors.
        tell("stop");
        manager.awaitEnd();
        assertThatThrownBy(() -> Files.readAllBytes(directory().resolve("weights"))).isInstanceOf(IOException.class);
        sandbox.run(modeldisk("unmount", directory())).succeeded();
    }

    @Test
    void restartMountsAgainAfterTheMountWasRemoved() throws Exception {
        serve();
        tell("kill umount -l " + directory());
        awaitReady(2);
        assertThat(manager.output())
            .contains("cannot continue the mount of the previous process: the mount was removed");
        assertThat(Files.readAllBytes(directory().resolve("weights"))).hasSize(2 << 20);
    }

    @Test
    void restartRefusesADirectoryOnWhichAnotherFileSystemIsMounted() throws Exception {
        Path former = directory();
        Path other = sandbox.directory("other");
        Path link = Files.createSymbolicLink(sandbox.path("link"), former);
        sandbox.shell("mount -t tmpfs tmpfs \"$1\" && echo data >\"$1\"/file", other).succeeded();
        directory = link;
        serve();
        assertThat(sandbox.isMounted(former)).isTrue();
        tell("restart ln -sfn " + other + " " + link);
        await("the new process refuses the directory\n" + manager.output(),
            () -> manager.output().contains(other + " is already a mount point of type tmpfs"));
        assertThat(Files.readString(other.resolve("file"))).isEqualTo("data\n");
        assertThat(sandbox.isMounted(former)).isFalse();
    }

    @Test
    void restartableMountRequiresForegroundAndAServiceManager() throws Exception {
        Object[] mount = {"mount", "modeldisk://127.0.0.1:1/m", directory(), "--restartable"};
        assertThat(sandbox.run(modeldisk(mount)).output()).contains("--restartable needs --foreground");
        assertThat(sandbox.run(modeldisk(mount, "--foreground")).output()).contains("NOTIFY_SOCKET is not set");
    }
}
