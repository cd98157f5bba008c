package io.modeldisk.fault.coordination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class CoordinatorTest {
    private static final CoordinatorSecret SECRET = new CoordinatorSecret("shards", "aSecretOfTheShards");

    @TempDir
    private Path directory;

    private Coordinator launch(CoordinatorSecret secret) throws IOException {
        return Coordinator.launch(new InetSocketAddress("127.0.0.1", 0), directory, secret);
    }

    private static CoordinatorContext client(Coordinator coordinator) {
        return client(coordinator, CoordinatorContext.DEFAULT_SESSION);
    }

    private static CoordinatorContext client(Coordinator coordinator, Duration session) {
        return new CoordinatorContext(List.of(coordinator.localAddress()), session);
    }

    @Test
    void stateSurvivesARestart() throws Exception {
        try (Coordinator coordinator = launch(null);
            CoordinatorClient client = CoordinatorClient.connect(client(coordinator))) {
            client.run(curator -> curator.create().forPath("/x", new byte[]{7}));
        }
        try (Coordinator coordinator = launch(null);
            CoordinatorClient client = CoordinatorClient.connect(client(coordinator))) {
            byte[] data = client.run(curator -> curator.getData().forPath("/x"));
            assertThat(data).containsExactly(7);
        }
    }

    @Test
    void sessionTimeoutMustBeFromOneToSixtySeconds() throws Exception {
        try (Coordinator coordinator = launch(null)) {
            for (Duration session : List.of(Duration.ofSeconds(1), Duration.ofSeconds(60))) {
                try (CoordinatorClient client = CoordinatorClient.connect(client(coordinator, session))) {
                    int granted = client
                        .run(curator -> curator.getZookeeperClient().getZooKeeper().getSessionTimeout());
                    assertThat(granted).isEqualTo((int) session.toMillis());
                }
            }
            assertThatThrownBy(() -> client(coordinator, Duration.ofMillis(999)))
                .hasMessageContaining("coordinatorSession=999 ms must be from 1s to 60s");
        }
    }

    @Test
    void launchAtAnAddressInUseFailsAndReleasesTheDirectory() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            InetSocketAddress taken = new InetSocketAddress("127.0.0.1", other.getLocalPort());
            assertThatThrownBy(() -> Coordinator.launch(taken, directory, null)).isInstanceOf(IOException.class)
                .hasMessage("cannot listen on 127.0.0.1:" + other.getLocalPort() + ": Address already in use");
        }
        launch(null).close();
    }

    @Test
    void directoryOfAnotherProgramIsRefused() throws Exception {
        Files.createFile(directory.resolve("data"));
        assertThatThrownBy(() -> launch(null)).isInstanceOf(IOException.class)
            .hasMessageContaining("holds other files, such as data");
    }

    @Test
    void secondCoordinatorInOneDirectoryIsRefused() throws Exception {
        try (Coordinator first = launch(null)) {
            assertThat(first.localAddress().getPort()).isPositive();
            assertThatThrownBy(() -> launch(null)).hasMessageContaining("another coordinator uses the directory");
        }
    }

    @Test
    void znodesAreChangedOnlyWithTheSecretAndReadWithoutIt() throws Exception {
        try (Coordinator coordinator = launch(SECRET);
            CoordinatorClient shard = CoordinatorClient.connect(client(coordinator).withSecret(SECRET));
            CoordinatorClient stranger = CoordinatorClient.connect(client(coordinator))) {
            shard.run(curator -> curator.create().forPath(ModelPaths.ROOT + "/m", new byte[]{1}));
            byte[] data = stranger.run(curator -> curator.getData().forPath(ModelPaths.ROOT + "/m"));
            assertThat(data).containsExactly(1);
            for (CoordinatorClient.Operation<?> change : List.<CoordinatorClient.Operation<?>>of(
                curator -> curator.setData().forPath(ModelPaths.ROOT + "/m", new byte[0]),
                curator -> curator.delete().forPath(ModelPaths.ROOT + "/m"),
                curator -> curator.create().forPath(ModelPaths.ROOT + "/n"),
                curator -> curator.create().forPath("/other"))) {
                assertThatThrownBy(() -> stranger.run(change)).isInstanceOf(KeeperException.NoAuthException.class);
            }
        }
    }

    @Test
    void stateCreatedWithAnotherSecretIsRefused() throws Exception {
        launch(SECRET).close();
        assertThatThrownBy(() -> launch(new CoordinatorSecret("shards", "anotherSecretOfThem")))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("the secret of 'shards' does not open the state in");
        launch(SECRET).close();
    }

    @Test
    void connectFailsWithinTheTimeLimitForAServerThatIsNotZooKeeper() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 16, InetAddress.getLoopbackAddress())) {
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", other.getLocalPort());
            assertThatThrownBy(() -> CoordinatorClient
                .connect(new CoordinatorContext(List.of(address), CoordinatorContext.DEFAULT_SESSION,
                    Duration.ofSeconds(1), null)))
                .isInstanceOf(IOException.class)
                .hasMessage(
                    "no ZooKeeper answers at 127.0.0.1:%1$d within 1000 ms: 127.0.0.1:%1$d accepts connections, but"
                        + " does not answer as a ZooKeeper with a quorum does",
                    other.getLocalPort());
        }
    }
}
