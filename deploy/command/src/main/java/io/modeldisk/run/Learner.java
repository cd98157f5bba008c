package io.modeldisk.run;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A learner of a run: its process, and the threads that copy its output to the terminal with its rank in front. */
final class Learner {
    /** Longer lines are written in parts, so a program that prints no line ends cannot fill the memory. */
    private static final int LONGEST_LINE_BYTES = 1 << 16;
    private static final long REPLACED_LINES_NS = TimeUnit.SECONDS.toNanos(1);

    private final int rank;
    private final Process process;
    private final RunConsole console;
    private final CompletableFuture<?>[] copies;
    private boolean noticed;

    private Learner(int rank, Process process, RunConsole console) {
        this.rank = rank;
        this.process = process;
        this.console = console;
        this.copies = new CompletableFuture<?>[]{copying(process.getInputStream(), console.output()),
            copying(process.getErrorStream(), console.errors())};
    }

    private CompletableFuture<?> copying(InputStream input, PrintStream stream) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        ThreadName.OUTPUT.builder(rank).start(() -> {
            try {
                copy(input, stream);
            } finally {
                done.complete(null);
            }
        });
        return done;
    }

    static Learner start(RunPlan plan, int rank, RunDirectory run, RunConsole console) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(Service.inOwnSession(plan.command().toArray(String[]::new)))
            .redirectInput(Path.of("/dev/null").toFile());
        Map<String, String> environment = builder.environment();
        environment.put(RunDirectory.VARIABLE, run.path().toString());
        environment.put("MODELDISK_DIR", run.mount(rank).toString());
        environment.put("RANK", Integer.toString(rank));
        environment.put("LOCAL_RANK", Integer.toString(rank));
        environment.put("WORLD_SIZE", Integer.toString(plan.learners()));
        // The learners share the processors. By default, the libraries of each of them would use all processors.
        environment.putIfAbsent("OMP_NUM_THREADS",
            Integer.toString(Math.max(1, Runtime.getRuntime().availableProcessors() / plan.learners())));
        // Without this variable, Python buffers its output, because it writes to a pipe.
        environment.putIfAbsent("PYTHONUNBUFFERED", "1");
        environment.remove("NOTIFY_SOCKET");
        // In a source tree, the Python package is beside the command.
        Path python = Path.of(plan.program()).toRealPath().resolveSibling("python");
        if (Files.isDirectory(python)) {
            environment.merge("PYTHONPATH", python.toString(), (before, added) -> before + ":" + added);
        }
        return new Learner(rank, builder.start(), console);
    }

    int rank() {
        return rank;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the status with which the process has exited: 128 + N if signal N ended it. */
    int exitStatus() {
        return process.exitValue();
    }

    long processId() {
        return process.pid();
    }

    /** Returns whether the process has ended, and no earlier call has said so. */
    boolean endsNow() {
        boolean now = !noticed && !process.isAlive();
        noticed = noticed || now;
        return now;
    }

    /** Returns a future that completes when the output has been written. */
    CompletableFuture<Void> output() {
        return CompletableFuture.allOf(copies);
    }

    private void copy(InputStream input, PrintStream stream) {
        byte[] prefix = (rank + ": ").getBytes(StandardCharsets.US_ASCII);
        byte[] line = new byte[LONGEST_LINE_BYTES];
        int length = 0;
        boolean returned = false;
        long shownNs = NanoClock.SYSTEM.nanoTime();
        try (InputStream buffered = new BufferedInputStream(input)) {
            for (int next = buffered.read(); next >= 0; next = buffered.read()) {
                if (returned && next != '\n') {
                    // The program rewrites its line, as a progress bar does. At most one version a second is shown.
                    long nowNs = NanoClock.SYSTEM.nanoTime();
                    if (length > 0 && nowNs - shownNs > REPLACED_LINES_NS) {
                        console.write(stream, prefix, line, length);
                        shownNs = nowNs;
                    }
                    length = 0;
                }
                returned = next == '\r';
                if (returned) {
                    continue;
                }
                line[length++] = (byte) next;
                if (next == '\n' || length == line.length) {
                    console.write(stream, prefix, line, length);
                    length = 0;
                }
            }
        } catch (IOException e) {
            console.say("the output of learner " + rank + " cannot be read: " + e.getMessage());
        }
        if (length > 0) {
            console.write(stream, prefix, line, length);
        }
    }
}
