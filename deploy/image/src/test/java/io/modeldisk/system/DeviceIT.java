package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests shards on an emulated GPU. */
@Timeout(180)
final class DeviceIT {
    private static final String SIZE = "1MiB";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running serve(int port, Object... options) throws Exception {
        return serve(Map.of(), port, options);
    }

    private Running serve(Map<String, String> environment, int port, Object... options) throws Exception {
        return sandbox.start("serve", environment, modeldisk("serve", "--model", "m", "--listen", "127.0.0.1:" + port,
            "--size", SIZE, "--block-size", "64KiB", "--aggregator", "sum", "--consistency", "bsp", "--lease", "60s",
            options));
    }

    private void train(Path mount, int first, int last) throws Exception {
        sandbox.run(JournalIT.trainer(mount, first, last, "bsp")).succeeded();
    }

    @Tag("mount")
    @ParameterizedTest
    @CsvSource({"shm, host", "tcp, device"})
    void shardContinuesFromItsJournalAfterAKill(String datamover, String pullFrom) throws Exception {
        Programs.requireLearners();
        sandbox.useDevice();
        Object[] options = {"--datamover", "tcp,shm", "--shm-directory", sandbox.path("run"), "--state",
            sandbox.path("state"), "--durability", "journal", "--pull-from", pullFrom};
        Running shard = serve(0, options);
        int port = Command.port(shard);
        Path mount = sandbox.directory("d");
        String address = new Shards("m", List.of(port)).address();
        sandbox.run(modeldisk("mount", address, mount, "--datamover", datamover, "--shm-directory",
            sandbox.path("run"), "--reconnect", "60s")).succeeded();
        train(mount, 1, 10);
        assertThat(shard.output()).contains("cuda:0 (emulated 0), pushes to host memory");
        assertThat(sandbox.run(modeldisk("status", address, "--json")).succeeded()).contains("emulated 0",
            "\"pushPlace\" : \"host memory\"", "\"devicePushes\" : 0");
        shard.kill();
        Command.port(serve(port, options));
        train(mount, 11, 20);
    }

    @Tag("mount")
    @Test
    void learnerContinuesWhenAShardRestartsAfterALostDevice() throws Exception {
        Programs.requireLearners();
        sandbox.useDevice();
        Object[] options = {"--state", sandbox.path("state"), "--durability", "journal"};
        Running shard = serve(Map.of("EMULATED_CUDA_LOST_AT_CALL", "2000"), 0, options);
        int port = Command.port(shard);
        Path mount = sandbox.directory("d");
        sandbox.run(modeldisk("mount", new Shards("m", List.of(port)).address(), mount, "--reconnect", "60s"))
            .succeeded();
        Running learner = sandbox.start("learner", JournalIT.trainer(mount, 1, 100, "bsp"));
        assertThat(shard.awaitEnd()).isEqualTo(1);
        assertThat(shard.output()).contains("the device cuda:0 (emulated 0) failed: cu", "; this process ends");
        assertThat(learner.process().isAlive()).isTrue();
        Command.port(serve(Map.of(), port, options));
        assertThat(learner.awaitEnd()).as(learner.output()).isZero();
    }

    @Tag("mount")
    @Test
    void backupTakesOverIfTheDeviceOfThePrimaryIsLost() throws Exception {
        Programs.requireLearners();
        sandbox.useDevice();
        String coordinator = Command.address(Command.coordinator(sandbox, "127.0.0.1:0"));
        Object[] options = {"--coordinator", coordinator, "--coordinator-session", "4s", "--durability", "replica"};
        Running primary = serve(Map.of("EMULATED_CUDA_LOST_AT_CALL", "2000"), 0, options);
        primary.awaitLine("ready: ");
        Running backup = serve(Map.of(), 0, options);
        String url = "modeldisk+zk://" + coordinator + "/m";
        await(() -> "the backup is in sync: " + backup.output(), Duration.ofSeconds(60),
            () -> sandbox.run(modeldisk("status", url)).output().contains(" is in sync"));
        Path mount = sandbox.directory("d");
        sandbox.run(modeldisk("mount", url, mount, "--reconnect", "60s")).succeeded();
        Running learner = sandbox.start("learner", JournalIT.trainer(mount, 1, 100, "bsp"));
        assertThat(primary.awaitEnd()).isEqualTo(1);
        assertThat(learner.process().isAlive()).isTrue();
        assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        assertThat(backup.output()).contains("primary of epoch 2");
    }

    @Test
    void shardWithoutADriverReportsTheMissingLibraryInOneLine() throws Exception {
        assumeFalse(Files.exists(Path.of("/dev/nvidiactl")), "this machine has a driver");
        Running shard = sandbox.start("serve", Map.of("LD_LIBRARY_PATH", ""),
            modeldisk("serve", "--model", "m", "--size", SIZE, "--listen", "127.0.0.1:0", "--device", "cuda:0"));
        assertThat(shard.awaitEnd()).isNotZero();
        assertThat(shard.output().lines().filter(line -> line.contains("libcuda.so.1"))).hasSize(1)
            .allMatch(line -> line.contains("NVIDIA's driver is missing"));
        assertThat(shard.output()).doesNotContain("\tat ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--device=gpu | must be a kind and a number, such as cuda:0",
        "--device=cuda:3 | there is no device cuda:3; this machine has only cuda:0",
        "--device=rocm:0 | are not supported; the supported kinds are: cuda",
        "--push-to=device | is not possible: it needs --datamover iser",
        "--push-to=disk | must be one of auto, device, host",
        "--pull-from=disk | must be host or device",
        "--block-size=1MiB | free memory"})
    void shardRefusesAWrongDeviceOptionWithTheReason(String option, String message) throws Exception {
        sandbox.useDevice();
        Running shard = sandbox.start("serve", Map.of("EMULATED_CUDA_MEGABYTES", "64"),
            modeldisk("serve", "--model", "m", "--size", SIZE, "--listen", "127.0.0.1:0", option));
        assertThat(shard.awaitEnd()).isNotZero();
        assertThat(shard.output()).contains(message).doesNotContain("\tat ");
    }
}
