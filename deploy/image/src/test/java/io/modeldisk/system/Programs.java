package io.modeldisk.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Skips a test if a program that it needs is not installed. */
final class Programs {
    private static final String IGNORED = "SigIgn:";
    private static final int SIGINT = 2;
    private static final int SIGTERM = 15;

    private Programs() {}

    static void require(String program, String debianPackage) {
        boolean found = Stream.of(System.getenv("PATH").split(":")).map(directory -> Path.of(directory, program))
            .anyMatch(Files::isExecutable);
        assumeTrue(found, program + " is missing; install it with apt install " + debianPackage);
    }

    /** Skips the test if child processes ignore this signal. A shell, for example, starts background jobs that ignore INT. */
    static void requireSignal(String signal) throws IOException {
        int number = signal.equals("INT") ? SIGINT : SIGTERM;
        String mask = Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith(IGNORED)).findFirst().orElseThrow().substring(IGNORED.length()).strip();
        assumeTrue((Long.parseUnsignedLong(mask, 16) >> (number - 1) & 1) == 0,
            "this process ignores SIG" + signal + ", and so do its child processes; run the tests in the foreground");
    }

    /** Skips the test if this machine cannot mount models or run learners in Python. */
    static void requireLearners() {
        requireMounting();
        require("python3", "python3-numpy");
    }

    static void requireMounting() {
        assumeTrue(Files.isReadable(Path.of("/dev/fuse")),
            "/dev/fuse is missing; load the kernel module with modprobe fuse");
        require("fusermount3", "fuse3");
    }
}
