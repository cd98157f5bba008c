package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the coordinator, and shards that use it. Each of them runs in a separate process. */
@Timeout(180)
final class CoordinatorIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running coordinator(Object... options) throws Exception {
        return Command.coordinator(sandbox, "127.0.0.1:0", options);
    }

    @Test
    void coordinatorRestartsWithItsStateAfterSigterm() throws Exception {
        for (int i = 0; i < 2; i++) {
            Running coordinator = coordinator();
            assertThat(coordinator.awaitLine("ready: "))
                .matches("ready: coordinator on 127\\.0\\.0\\.1:\\d+, state in .*");
            coordinator.signal("TERM");
            assertThat(coordinator.awaitEnd()).isEqualTo(143);
            assertThat(coordinator.output().lines()).hasSize(1);
        }
    }

    @Test
    void coordinatorOnAnExternalAddressRequiresSecretsOrTheInsecureOption() throws Exception {
        Path secrets = sandbox.file("secrets", "peer learner aVeryLongSecretOfIts\n");
        Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
        Object[] command = {"coordinator", "--listen", "0.0.0.0:0", "--state", sandbox.path("zk")};
        assertThat(sandbox.run(modeldisk(command)).output())
            .contains("listen=0.0.0.0:0 can be reached from other machines", "give --secrets FILE, or --insecure");
        assertThat(sandbox.run(modeldisk("coordinator", "--listen", "0.0.0.0:0", "--state", sandbox.path("zk"),
            "--secrets", secrets)).output()).contains("has no line 'zookeeper NAME SECRET'");
        Running open = Command.coordinator(sandbox, "0.0.0.0:0", "--insecure");
        assertThat(open.awaitLine("ready: ")).contains("coordinator on 0.0.0.0:");
    }

    /**
     * Starts a process that serves a shard, with short timeouts. Without the option --shard, it is the only shard of the model.
     */
    private Running serve(String coordinator, Object... options) throws Exception {
        return Command.serve(sandbox, "--model", "m", "--size", "1MiB", "--aggregator", "sum", "--coordinator",
            coordinator, "--coordinator-session", "3s", "--replace-after", "1s", options);
    }

    @Test
    void standbyReplacesAPausedOrKilledPrimary() throws Exception {
        String coordinator = Command.address(coordinator());
        Running first = serve(coordinator);
        int port = Command.port(first);
        Running other = serve(coordinator, "--consistency", "bsp");
        assertThat(other.awaitEnd()).isEqualTo(1);
        assertThat(other.output()).contains("its consistency is bsp in this process, but asp in the model");
        Running second = serve(coordinator);
        assertThat(second.awaitLine("standby: "))
            .isEqualTo("standby: shard 0/1 of model m waits; epoch 1 belongs to 127.0.0.1:" + port);
        first.signal("STOP");
        second.awaitLine("ready: ");
        assertThat(second.output()).contains("epoch 2 of shard 0 of model m: this process starts anew");
        first.signal("CONT");
        first.awaitLine("standby: ");
        assertThat(sandbox.run(modeldisk("status", "modeldisk://127.0.0.1:" + port + "/m")).status()).isEqualTo(1);
        sandbox.run(modeldisk("status", "modeldisk://127.0.0.1:" + Command.port(second) + "/m")).succeeded();
        first.signal("KILL");
        Running third = serve(coordinator);
        third.awaitLine("standby: ");
        second.signal("TERM");
        third.awaitLine("ready: ");
        assertThat(third.output()).doesNotContain("this process replaces it if it does not return");
        Running fourth = serve(coordinator);
        fourth.awaitLine("standby: ");
        third.signal("KILL");
        fourth.awaitLine("ready: ");
        assertThat(fourth.output()).contains("this process starts anew");
    }

    @Test
    void shardServesAgainAfterTheCoordinatorRestarts() throws Exception {
        Running coordinator = coordinator();
        String address = Command.address(coordinator);
        Running shard = serve(address);
        String model = "modeldisk://127.0.0.1:" + Command.port(shard) + "/m";
        coordinator.signal("KILL");
        await("the shard stops serving", () -> shard.output().contains("this process stops serving"));
        Command.coordinator(sandbox, address).awaitLine("ready: ");
        await("the shard serves again", () -> shard.output().contains("serves again, because nobody has taken over"));
        sandbox.run(modeldisk("status", model)).succeeded();
        assertThat(shard.lines("ready: ")).hasSize(1);
    }

    private void train(Path directory, int first, int last) throws Exception {
        sandbox.run(JournalIT.trainer(directory, first, last, "bsp")).succeeded();
    }

    private Running serveOneOfTwo(String coordinator, int shard) throws Exception {
        return serve(coordinator, "--shard", shard + "/2", "--consistency", "bsp", "--state", sandbox.path("state"),
            "--checkpoint-every", "1h");
    }

    @Test
    @Tag("mount")
    void mountFollowsAShardToAnotherProcess() throws Exception {
        Programs.requireLearners();
        String coordinator = Command.address(coordinator());
        List<Running> primaries = List.of(serveOneOfTwo(coordinator, 0), serveOneOfTwo(coordinator, 1));
        for (Running primary : primaries) {
            primary.awaitLine("ready: ");
        }
        List<Running> standbys = List.of(serveOneOfTwo(coordinator, 0), serveOneOfTwo(coordinator, 1));
        for (Running standby : standbys) {
            standby.awaitLine("standby: ");
        }
        String address = "modeldisk+zk://" + coordinator + "/m";
        Path directory = sandbox.directory("mnt");
        sandbox.run(modeldisk("mount", address, directory, "--learner", "l1", "--reconnect", "60s")).succeeded();
        train(directory, 1, 5);
        sandbox.run(modeldisk("checkpoint", address)).succeeded();
        primaries.get(1).signal("KILL");
        standbys.get(1).awaitLine("ready: ");
        train(directory, 6, 8);
        sandbox.run(modeldisk("checkpoint", address)).succeeded();
        primaries.get(0).signal("STOP");
        standbys.get(0).awaitLine("ready: ");
        train(directory, 9, 11);
        primaries.get(0).signal("CONT");
        primaries.get(0).awaitLine("standby: ");
        train(directory, 12, 13);
        String status = sandbox.run(modeldisk("status", address)).succeeded();
        assertThat(status).contains("coordinator " + coordinator)
            .containsPattern("0 +2 127.0.0.1:" + Command.port(standbys.get(0)) + " +a process on ")
            .containsPattern("1 +2 127.0.0.1:" + Command.port(standbys.get(1)) + " +none");
    }

    @Test
    void statusRefusesAnAddressWithoutAModelOrZooKeeper() throws Exception {
        String coordinator = Command.address(coordinator());
        assertThat(sandbox.run(modeldisk("status", "modeldisk+zk://" + coordinator + "/m")).output())
            .startsWith("modeldisk status: the coordinator " + coordinator + " knows no model 'm'");
        Running shard = Command.serve(sandbox, "--model", "m", "--size", "1MiB");
        String other = "127.0.0.1:" + Command.port(shard);
        assertThat(sandbox.run(modeldisk("status", "modeldisk+zk://" + other + "/m")).output())
            .startsWith("modeldisk status: no ZooKeeper answers at " + other + " within ")
            .contains("accepts connections, but does not answer as a ZooKeeper");
    }
}
