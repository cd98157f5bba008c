package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Runs shell commands on a mount. Each command has a time limit, by default 60 s. */
final class Shell {
    /** The start of the Python program of a learner. It opens the file model as descriptor f. */
    static final String OPEN = "import errno, os, signal, sys; f=os.open(os.environ['DIR']+'/model', os.O_RDWR)\n";

    private static final int BOUND_S = 60;

    private final Path directory;

    Shell(Path directory) {
        this.directory = directory;
    }

    /** The exit status and the output of a command. */
    record Result(int status, String output) {}

    /** Runs a command in bash. The variable DIR contains the directory of the mount. */
    Result run(String command) throws IOException, InterruptedException {
        return end(start(command));
    }

    /** Runs a command that must succeed. Returns its output. */
    String succeed(String command) throws IOException, InterruptedException {
        return succeed(command, BOUND_S);
    }

    /** Runs a command that must succeed within this time. Returns its output. */
    String succeed(String command, int boundS) throws IOException, InterruptedException {
        Result result = end(start(command), boundS);
        assertThat(result.status()).as(command + "\n" + result.output()).isZero();
        return result.output();
    }

    /** Runs a Python program that must succeed. The program starts with {@link #OPEN}. Returns its output. */
    String learn(String program) throws IOException, InterruptedException {
        return succeed("python3 - <<'P'\n" + OPEN + program + "P");
    }

    Process start(String command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", command).redirectErrorStream(true);
        builder.environment().put("DIR", directory.toString());
        // The process runs outside the mount, because a directory cannot be unmounted while it is a working directory.
        return builder.directory(Path.of("/").toFile()).start();
    }

    static Result end(Process process) throws IOException, InterruptedException {
        return end(process, BOUND_S);
    }

    private static Result end(Process process, int boundS) throws IOException, InterruptedException {
        if (!process.waitFor(boundS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("a command on the mount did not exit within " + boundS + " s");
        }
        return new Result(process.exitValue(),
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }
}
