package io.modeldisk.run;

import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;

/**
 * The process that ends everything that a run has started. It waits until this process closes the pipe between them or is
 * killed, so nothing is left in either case. Thread-safe.
 */
final class CleanUp {
    private static final String SCRIPT = "clean-up.sh";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final RunDirectory directory;
    private Process process;
    private boolean ended;

    private CleanUp(RunDirectory directory, Process process) {
        this.directory = directory;
        this.process = process;
    }

    static CleanUp start(RunDirectory directory) throws IOException {
        return new CleanUp(directory, process(directory));
    }

    private static Process process(RunDirectory directory) throws IOException {
        try (InputStream script = CleanUp.class.getResourceAsStream(SCRIPT)) {
            ProcessBuilder builder = new ProcessBuilder(Service.inOwnSession("sh", "-c",
                new String(script.readAllBytes(), StandardCharsets.UTF_8), SCRIPT, directory.path().toString()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
            return builder.start();
        }
    }

    /**
     * Ends the learners and, unless {@code keep} is set, the mounts and shards, and removes the directory. Returns when that is
     * done. Further calls do nothing.
     *
     * @throws IOException if something is left
     */
    synchronized void end(boolean keep) throws IOException, InterruptedException {
        if (ended) {
            return;
        }
        ended = true;
        if (!process.isAlive()) {
            process = process(directory);
        }
        process.getOutputStream().write(keep ? "keep\n".getBytes(StandardCharsets.US_ASCII) : new byte[0]);
        process.getOutputStream().close();
        if (!FutureWait.isDoneWithin(process.onExit(), TIMEOUT, NanoClock.SYSTEM)
            || !keep && Files.exists(directory.path())) {
            throw new IOException(
                "the directory " + directory.path() + " of this run could not be removed; look for processes "
                    + "that still use it with `fuser -vm " + directory.path() + "`");
        }
    }
}
