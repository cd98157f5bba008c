package io.modeldisk.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Checks that the programs that a test needs are installed. If a program is missing, the test is skipped. */
final class Programs {
    private Programs() {}

    static void require(String program, String debianPackage) {
        boolean found = Stream.of(System.getenv("PATH").split(":")).map(directory -> Path.of(directory, program))
            .anyMatch(Files::isExecutable);
        assumeTrue(found, program + " is missing; install it with apt install " + debianPackage);
    }

    static void requireMounting() {
        assumeTrue(Files.isReadable(Path.of("/dev/fuse")),
            "/dev/fuse is missing; load the kernel module with modprobe fuse");
        require("fusermount3", "fuse3");
    }
}
