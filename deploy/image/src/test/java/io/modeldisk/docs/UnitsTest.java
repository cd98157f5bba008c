package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the systemd units of the Debian package against the exit statuses and the options of the commands. */
final class UnitsTest {
    private static final Path LIB = Path.of(System.getProperty("project.root"), "deploy/packages/root/usr/lib");

    @Test
    void serviceWithWrongSettingsIsNotRestarted() throws IOException {
        try (Stream<Path> units = Files.list(LIB.resolve("systemd/system"))) {
            List<Path> restarted = units.filter(unit -> lines(unit).contains("Restart=on-failure")).toList();
            assertThat(restarted).hasSize(3).allSatisfy(
                unit -> assertThat(lines(unit)).contains("RestartPreventExitStatus=2", "SuccessExitStatus=143"));
        }
    }

    @Test
    void serviceOfAMountIsRestartable() {
        assertThat(lines(LIB.resolve("systemd/system/modeldisk-mount@.service"))).contains(
            "ExecStart=/usr/bin/modeldisk mount --foreground --restartable", "FileDescriptorStoreMax=64");
    }

    /** With this mode, ShmPortal accepts the directory for shards of root and for those of the user modeldisk. */
    @Test
    void shardsOfRootAndOfTheServicesShareTheDirectoryOfTheSockets() {
        assertThat(lines(LIB.resolve("tmpfiles.d/modeldisk.conf"))).contains("d /run/modeldisk 1770 root modeldisk");
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
