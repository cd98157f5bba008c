package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs a coordinator as a process. */
@Timeout(180)
final class CoordinatorIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running coordinator(Object... options) throws Exception {
        return Command.coordinator(sandbox, "127.0.0.1:0", options);
    }

    @Test
    void coordinatorStopsInOrderAtASignalAndGoesOnFromItsState() throws Exception {
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
    void addressThatOtherMachinesReachNeedsSecretsOrInsecure() throws Exception {
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

    @Test
    void directoryOfAnotherProgramIsRefused() throws Exception {
        Files.createFile(sandbox.directory("zk").resolve("data"));
        Result result = sandbox.run(modeldisk("coordinator", "--listen", "127.0.0.1:0", "--state", sandbox.path("zk")));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).startsWith("modeldisk coordinator: the directory --state ")
            .contains("holds other files, such as data");
    }
}
