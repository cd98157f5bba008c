package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Runs shell commands on a mount, each in bounded time. */
final class Shell {
    private static final int BOUND_S = 60;

    private final Path directory;

    Shell(Path directory) {
        this.directory = directory;
    }

    /** How a command ended. */
    record Result(int status, String output) {}

    /** Runs a command in bash; $DIR is the directory. */
    Result run(String command) throws IOException, InterruptedException {
        return end(start(command));
    }

    /** Runs a command that must succeed. */
    String succeed(String command) throws IOException, InterruptedException {
        Result result = run(command);
        assertThat(result.status()).as(command + "\n" + result.output()).isZero();
        return result.output();
    }

    Process start(String command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", command).redirectErrorStream(true);
        builder.environment().put("DIR", directory.toString());
        // Outside of the mount, which cannot be unmounted while a process works in it.
        return builder.directory(Path.of("/").toFile()).start();
    }

    static Result end(Process process) throws IOException, InterruptedException {
        if (!process.waitFor(BOUND_S, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("a command did not end within " + BOUND_S + " s");
        }
        return new Result(process.exitValue(),
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }
}
