package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MountUsersTest {
    /** A device number that no file system of this machine has. */
    private static final String DEVICE = "0:99999999";
    private static final Duration SHORT = Duration.ofMillis(50);

    @TempDir
    private Path processes;

    /** Simulates the /proc files of a process that runs a modeldisk command and has this file open. */
    private Path process(int number, String file) throws IOException {
        Path process = Files.createDirectories(processes.resolve(Integer.toString(number)).resolve("fd")).getParent();
        Files.writeString(process.resolve("cmdline"), "java\0io.modeldisk.command.Main\0mount\0");
        Files.createSymbolicLink(process.resolve("fd").resolve("3"), Path.of("/dev/fuse"));
        Files.createSymbolicLink(process.resolve("fd").resolve("4"), Path.of(file));
        return process;
    }

    private MountUsers users() throws IOException {
        return new MountUsers(processes, processes.resolve("d"), DEVICE);
    }

    /** Before Linux 6.16, /proc/PID/fdinfo does not contain the connection of a FUSE descriptor. */
    @Test
    void unmountWaitsForTheProcessOfTheMountOnEveryKernel() throws IOException {
        process(7, "/memfd:mount-0:9999999 (deleted)");
        Path server = process(8, "/memfd:mount-" + DEVICE + " (deleted)");
        MountUsers users = users();
        assertThatThrownBy(() -> users.awaitGone(SHORT, NanoClock.SYSTEM))
            .hasMessageContaining("process 8, which served it, has not ended");
        Files.writeString(server.resolve("cmdline"), "");
        assertThatCode(() -> users.awaitGone(SHORT, NanoClock.SYSTEM)).doesNotThrowAnyException();
    }

    /** A process of an earlier version has no mark, nor has one that has begun to serve the mount a moment ago. */
    @Test
    void unmountWaitsForAProcessWithoutAMarkIfTheKernelNamesItsConnection() throws IOException {
        connection(process(8, "/dev/null"), "99999999");
        MountUsers users = users();
        assertThatThrownBy(() -> users.awaitGone(SHORT, NanoClock.SYSTEM))
            .hasMessageContaining("process 8, which served it, has not ended");
    }

    private static void connection(Path process, String number) throws IOException {
        Files.writeString(Files.createDirectory(process.resolve("fdinfo")).resolve("3"),
            "pos:\t0\nfuse_connection:\t" + number + "\n");
    }

    @Test
    void unmountDoesNotWaitForTheProcessOfAnotherMount() throws IOException {
        connection(process(7, "/memfd:mount-0:9999999 (deleted)"), "9999999");
        assertThatCode(() -> users().awaitGone(SHORT, NanoClock.SYSTEM)).doesNotThrowAnyException();
    }
}
