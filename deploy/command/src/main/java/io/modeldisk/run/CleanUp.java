package io.modeldisk.run;

import io.modeldisk.platform.linux.CallingProcess;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A separate process that ends everything that a run has started. It begins when this process closes the pipe between them, or
 * is killed, so nothing is left in either case. Thread-safe.
 */
final class CleanUp {
    private static final String SCRIPT = "clean-up.sh";
    /** The time for everything but the shards, on a busy machine. */
    private static final Duration MARGIN = Duration.ofMinutes(2);

    private final RunDirectory directory;
    private final Duration patience;
    private final List<String> sessions = new ArrayList<>();
    private Process process;
    private boolean ended;

    /**
     * Starts the process.
     *
     * @param patience how long a shard may take to stop
     */
    CleanUp(RunDirectory directory, Duration patience) throws IOException {
        this.directory = directory;
        this.patience = patience;
        this.process = process();
    }

    private Process process() throws IOException {
        try (InputStream script = CleanUp.class.getResourceAsStream(SCRIPT)) {
            return new ProcessBuilder(Service.inOwnSession("sh", "-c",
                new String(script.readAllBytes(), StandardCharsets.UTF_8), SCRIPT, directory.path().toString(),
                Long.toString(patience.toSeconds())))
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        }
    }

    /**
     * Adds a process that runs in a session of its own.
     *
     * @param kind learners, mounts or shards
     */
    synchronized void add(String kind, long processId) throws IOException {
        // The start is 0 if the process has ended. Processes that it has started might still be in its session.
        long start = CallingProcess.ofThread(processId).start();
        sessions.add(kind + " " + processId + " " + start);
        write(sessions.getLast());
    }

    private void write(String line) throws IOException {
        OutputStream pipe = process.getOutputStream();
        try {
            pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException e) {
            // Somebody has killed the process. end() starts another one.
            process.destroyForcibly();
        }
    }

    /**
     * Ends the learners and, unless {@code keep} is set, the mounts and shards, and removes the directory. Returns when that is
     * done. Further calls do nothing.
     *
     * @return the last lines of the logs of the shards, if they have a state
     * @throws IOException if something is left
     */
    synchronized String end(boolean keep) throws IOException, InterruptedException {
        if (ended) {
            return "";
        }
        ended = true;
        if (!process.isAlive()) {
            process = process();
            for (String session : sessions) {
                write(session);
            }
        }
        if (keep) {
            write("keep");
        }
        process.getOutputStream().close();
        if (!FutureWait.isDoneWithin(process.onExit(), patience.plus(MARGIN), NanoClock.SYSTEM)
            || !keep && Files.exists(directory.path())) {
            throw new IOException(
                "the directory " + directory.path() + " of this run could not be removed; look for processes "
                    + "that still use it with `fuser -vm " + directory.path() + "`");
        }
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }
}
