package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.striping.StripedModel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how shards and mounts start and stop. */
@Timeout(120)
final class LifecycleIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Shards launch() throws Exception {
        return Shards.launch(sandbox, "m", 1, 1 << 20, context -> context);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void shardWithOpenConnectionsStopsOnASignal(String signal) throws Exception {
        Programs.requireSignal(signal);
        Running shard = Command.serve(sandbox, "--model", "m", "--size", "1MiB");
        int port = Command.port(shard);
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), port);
            StripedModel session = StripedModel.connect(new Shards("m", List.of(port)).context())) {
            session.join();
            assertThat(silent.isConnected()).isTrue();
            shard.signal(signal);
            shard.awaitEnd();
        }
        assertThat(shard.output().lines()).as("the ready line is the only output").hasSize(1);
        await("all processes exit", () -> sandbox.processes().isEmpty());
    }

    @Test
    void lastLineOfAShardThatStopsIsInTheLog() throws Exception {
        Programs.requireSignal("TERM");
        Running shard = sandbox.start("serve", Map.of("MODELDISK_LOG_LEVEL", "debug"),
            modeldisk("serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0"));
        Command.port(shard);
        shard.signal("TERM");
        shard.awaitEnd();
        assertThat(shard.output().lines().toList().getLast()).contains("a signal stopped the shard");
    }

    @Test
    @Tag("mount")
    void logOfABackgroundMountBeginsWithTheConfigurationAndEndsWithTheStop() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        Path log = sandbox.path("mount.log");
        assertThat(sandbox.run(modeldisk("mount", launch().address(), directory, "--log", log)).succeeded().lines())
            .singleElement().asString().startsWith("ready: ");
        Running learner = sandbox.start("learner", "bash", "-c",
            "exec 5<>\"$1\"/model; printf 1234 >&5; echo written; sleep 60",
            "bash", directory);
        learner.awaitLine("written");
        ProcessHandle mount = sandbox.processes().stream()
            .filter(process -> process.info().command().orElse("").endsWith("/java")).findFirst().orElseThrow();
        mount.destroy();
        await("the process of the mount exits", () -> !mount.isAlive());
        assertThat(Files.readAllLines(log).getFirst()).endsWith("effective configuration:");
        assertThat(Files.readAllLines(log).getLast()).contains("closed the model without a successful fsync");
    }

    @Test
    void statusRefusesADirectoryThatIsNotMounted() throws Exception {
        sandbox.run(modeldisk("status", sandbox.directory("d")))
            .failed("no model is mounted on", "status.json does not exist");
    }

    @Test
    @Tag("mount")
    void statusOfAMountShowsItsTuning() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        sandbox.run(modeldisk("mount", launch().address(), directory, "--datamover", "tcp", "--tuning", "none"))
            .succeeded();
        assertThat(sandbox.run(modeldisk("status", directory)).succeeded()).contains(
            "mount " + directory + ": modeldisk ", ", exchange sync,",
            "tuning of tcp: eagerBytes 262144 (built in), requestBytes 262144 (built in), queueDepth 32 (built in)",
            "model m: 1 MiB in 4 blocks");
        sandbox.run(modeldisk("unmount", directory)).succeeded();
    }

    @Test
    @Tag("mount")
    void backgroundMountContinuesAfterItsParentExits() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        // This call returns only after every process has closed the output of the command.
        Result result = sandbox.run(modeldisk("mount", launch().address(), directory, "--learner", "l1"));
        assertThat(result.succeeded().lines()).singleElement().asString()
            .startsWith("ready: model m (1 MiB, 1 shard, asp) mounted on " + directory).endsWith("learner l1");
        assertThat(sandbox.processes()).hasSize(1);
        assertThat(Files.size(directory.resolve("model"))).isEqualTo(1 << 20);
        sandbox.run(modeldisk("unmount", directory)).succeeded();
        assertThat(sandbox.mounts()).isEmpty();
        assertThat(sandbox.processes()).as("processes of the mount after the command unmount has returned").isEmpty();
    }

    @Test
    @Tag("mount")
    void backgroundMountReleasesTheFilesAndDirectoryOfItsCaller() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        Path caller = sandbox.directory("caller");
        sandbox.shell("cd caller && exec 3>lock 9>>lock && flock 9 && \"$@\"",
            modeldisk("mount", launch().address(), "../d", "--log", "mount.log"))
            .succeeded();
        sandbox.shell("flock --nonblock caller/lock true").succeeded();
        ProcessHandle mount = sandbox.processes().getFirst();
        Path process = Path.of("/proc", Long.toString(mount.pid()));
        assertThat(process.resolve("cwd").toRealPath()).isEqualTo(Path.of("/"));
        try (Stream<Path> open = Files.list(process.resolve("fd"))) {
            assertThat(open.map(LifecycleIT::target)
                .filter(target -> target.startsWith(caller))).containsOnly(caller.resolve("mount.log"));
        }
        sandbox.shell("printf 1234 > \"$1\"/model", directory);
        sandbox.run(modeldisk("unmount", directory)).succeeded();
        await("the process of the mount exits", () -> sandbox.processes().isEmpty());
        assertThat(caller.resolve("mount.log")).content().contains("closed the model without a successful fsync");
    }

    /**
     * Returns the file to which a descriptor in /proc refers, or the path of the descriptor itself if the process has closed it.
     */
    private static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            return descriptor;
        }
    }

    @Test
    void mountCommandFailsIfItsProcessExitsAfterTheReadyLine() throws Exception {
        Path java = sandbox.directory("jdk/bin").resolve("java");
        sandbox.file("jdk/release", "JAVA_VERSION=\"25\"\n");
        Files.writeString(java, "#!/bin/sh\necho 'ready: model m'\nexit 3\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Result result = sandbox.run(Map.of("JAVA_HOME", sandbox.path("jdk").toString()),
            modeldisk("mount", "modeldisk://127.0.0.1:1/m", sandbox.directory("d")));
        assertThat(result.status()).as(result::toString).isEqualTo(3);
    }

    @ParameterizedTest
    @Tag("mount")
    @ValueSource(strings = {"TERM", "INT"})
    void mountWithAnOpenFileStopsOnASignal(String signal) throws Exception {
        Programs.requireMounting();
        Programs.requireSignal(signal);
        Path directory = sandbox.directory("d");
        Running mount = Command.mounted(sandbox, launch(), directory);
        Running learner = sandbox.start("learner", "bash", "-c", "exec 5<>\"$1\"/model; echo opened; sleep 60",
            "bash", directory.toString());
        learner.awaitLine("opened");
        mount.signal(signal);
        mount.awaitEnd();
        assertThat(sandbox.mounts()).isEmpty();
        assertThat(mount.output().lines()).as("the ready line is the only output").hasSize(1);
    }

    @Test
    @Tag("mount")
    void mountProcessExitsWhenFusermountUnmountsTheDirectory() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        Running mount = Command.mounted(sandbox, launch(), directory);
        sandbox.run("fusermount3", "-u", directory).succeeded();
        assertThat(mount.awaitEnd()).isZero();
        assertThat(sandbox.mounts()).isEmpty();
    }

    @Test
    @Tag("mount")
    void unprivilegedUserMountsWithFusermount() throws Exception {
        Programs.requireMounting();
        assumeTrue(System.getProperty("user.name").equals("root"),
            "only root can run a command as another user; run the tests as root");
        Path directory = sandbox.directory("d");
        sandbox.shell("chmod 755 \"$1\"/.. && chown 65534 \"$1\"", directory).succeeded();
        assumeTrue(asOther(modeldisk("--version")).status() == 0,
            "other users cannot read the build directory, so they cannot run modeldisk");
        Shards shards = Shards.launch(sandbox, "m", 2, 1 << 20, context -> context);
        asOther(modeldisk("mount", shards.address(), directory)).succeeded();
        assertThat(sandbox.run("findmnt", "-no", "SOURCE", directory).succeeded().strip())
            .isEqualTo(shards.address());
        asOther("dd", "if=/dev/zero", "of=" + directory.resolve("model"), "bs=256K", "count=4", "conv=fsync,notrunc")
            .succeeded();
        asOther("fusermount3", "-u", directory).succeeded();
        assertThat(sandbox.mounts()).isEmpty();
    }

    private Result asOther(Object... command) throws Exception {
        return sandbox.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", command);
    }

    @Test
    @Tag("mount")
    void unmountRefusesAMountThatIsInUse() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        Running mount = Command.mounted(sandbox, launch(), directory);
        Running user = sandbox.start("user", "bash", "-c", "cd \"$1\" && echo inside && exec sleep 60", "bash",
            directory);
        user.awaitLine("inside");
        Result result = sandbox.run(modeldisk("unmount", directory));
        assertThat(result.status()).as(result::toString).isEqualTo(1);
        assertThat(result.output()).contains(directory.toString()).doesNotContain("\tat ");
        assertThat(mount.process().isAlive()).isTrue();
        assertThat(sandbox.isMounted(directory)).isTrue();
    }

    @Test
    @Tag("mount")
    void unmountReportsTheProcessWhoseNamespaceKeepsTheMount() throws Exception {
        Programs.requireMounting();
        Programs.require("unshare", "util-linux");
        assumeTrue(System.getProperty("user.name").equals("root"),
            "only root can create a mount namespace; run the tests as root");
        Path directory = sandbox.directory("d");
        Running mount = Command.mounted(sandbox, launch(), directory);
        Running holder = sandbox.start("holder", "unshare", "--mount", "--propagation", "private", "bash", "-c",
            "echo inside; exec sleep 60");
        holder.awaitLine("inside");
        Result result = sandbox.run(modeldisk("unmount", directory));
        assertThat(result.status()).as(result::toString).isEqualTo(1);
        assertThat(result.output()).contains(directory + " is unmounted, but process " + holder.process().pid(),
            "in its own mount namespace").doesNotContain("\tat ");
        assertThat(mount.process().isAlive()).isTrue();
        holder.signal("KILL");
        assertThat(mount.awaitEnd()).isZero();
    }

    @Test
    @Tag("mount")
    void unmountSucceedsAfterTheShardIsKilled() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        Running shard = Command.serve(sandbox, "--model", "m", "--size", "1MiB");
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        Running mount = Command.mounted(sandbox, shards, directory, "--reconnect", "1s");
        shard.kill();
        sandbox.shell("cat \"$1\"/model > /dev/null", directory).failed("Input/output error");
        assertThat(Files.readString(directory.resolve("status.json"))).contains("does not respond");
        sandbox.run(modeldisk("unmount", directory)).succeeded();
        mount.awaitEnd();
    }

    @Test
    @Tag("mount")
    void mountOfAKilledProcessIsReportedAndUnmountedDespiteOpenFiles() throws Exception {
        Programs.requireMounting();
        Path directory = sandbox.directory("d");
        Path link = Files.createSymbolicLink(sandbox.path("link"), Path.of("d"));
        Running killed = Command.mounted(sandbox, launch(), directory);
        Running learner = sandbox.start("learner", "bash", "-c", "exec 5<>\"$1\"/model; echo opened; sleep 60", "bash",
            directory);
        learner.awaitLine("opened");
        killed.kill();
        for (Path path : List.of(directory, link)) {
            sandbox.run(modeldisk("status", path)).failed(1, "the process that served the mount on " + path
                + " has ended; to remove the mount: modeldisk unmount " + path);
        }
        sandbox.run(modeldisk("unmount", link)).succeeded();
        assertThat(sandbox.mounts()).isEmpty();
    }

    @Test
    @Tag("mount")
    void newMountReplacesTheMountOfAKilledProcess() throws Exception {
        Programs.requireMounting();
        Shards shards = launch();
        Path directory = sandbox.directory("d");
        Running killed = Command.mounted(sandbox, shards, directory);
        killed.kill();
        Command.mounted(sandbox, shards, directory);
        assertThat(Files.size(directory.resolve("model"))).isEqualTo(1 << 20);
    }
}
