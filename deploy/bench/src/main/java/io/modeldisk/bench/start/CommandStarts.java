package io.modeldisk.bench.start;

import io.modeldisk.bench.report.CommandStartReport;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.shard.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntConsumer;

/** Measures the time until commands have done their work or are ready, in turn with the shortest program in Java. */
public final class CommandStarts {
    private static final double SECOND_NS = 1e9;

    private CommandStarts() {}

    /**
     * Runs the commands in turn. Each turn starts a new shard of 4 MiB and mounts its model.
     *
     * @param modeldisk the path of the {@code modeldisk} command
     * @param turn called before each turn with its number, from 1
     * @throws IOException if a command fails; its messages are on the standard error
     */
    public static CommandStartReport run(String modeldisk, int turns, IntConsumer turn) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        double[] version = new double[turns];
        double[] help = new double[turns];
        double[] serve = new double[turns];
        double[] mount = new double[turns];
        Path directory = Files.createTempDirectory("modeldisk-bench-start");
        try {
            for (int i = 0; i < turns; i++) {
                turn.accept(i + 1);
                version[i] = seconds(java, "--version");
                help[i] = seconds(modeldisk, "--help");
                long begun = System.nanoTime();
                try (ChildProcess shard = ChildProcess.start(modeldisk, "serve", "--model", "bench", "--size", "4MiB",
                    "--listen", "127.0.0.1:0", "--datamover", "tcp", "--tuning", "none")) {
                    serve[i] = secondsSince(begun);
                    mount[i] = seconds(modeldisk, "mount", "modeldisk://" + shard.address() + "/bench",
                        directory.toString());
                    seconds(modeldisk, "unmount", directory.toString());
                }
            }
        } finally {
            Files.delete(directory);
        }
        return new CommandStartReport(Samples.of(version), Samples.of(help), Samples.of(serve), Samples.of(mount));
    }

    private static double secondsSince(long begun) {
        return (System.nanoTime() - begun) / SECOND_NS;
    }

    /** Runs a command. Returns the time until it has ended. */
    private static double seconds(String... command) throws IOException {
        long begun = System.nanoTime();
        Process process = new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException("`" + String.join(" ", List.of(command)) + "` exited with status " + status
                    + "; see the messages above");
            }
            return secondsSince(begun);
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("the measurement was interrupted", e);
        }
    }
}
