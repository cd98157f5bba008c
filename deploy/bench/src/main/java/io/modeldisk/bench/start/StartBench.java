package io.modeldisk.bench.start;

import io.modeldisk.bench.baseline.CProgram;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.StartReport;
import io.modeldisk.bench.shard.ChildProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** Measures the time until a shard is ready, in turn with the time of a memset of as much memory. */
public final class StartBench {
    private static final double SECOND_NS = 1e9;
    private static final long SETTLE_SECONDS = 3;

    private StartBench() {}

    /**
     * Starts a shard and a C program in turn. Each process has exited before the next one starts.
     *
     * @param modeldisk the path of the {@code modeldisk} command
     * @param bytes the size of the shard and of the memory
     * @param turn called before each turn with its number, from 1
     */
    public static StartReport run(String modeldisk, long bytes, String consistency, int turns, IntConsumer turn)
        throws IOException {
        double[] shards = new double[turns];
        double[] memsets = new double[turns];
        try (CProgram memset = CProgram.compile(StartBench.class, "memset")) {
            for (int i = 0; i < turns; i++) {
                turn.accept(i + 1);
                settle();
                memsets[i] = seconds(memset, bytes);
                settle();
                shards[i] = seconds(modeldisk, bytes, consistency);
            }
        }
        return new StartReport(bytes, consistency, Samples.of(shards), Samples.of(memsets));
    }

    /** Waits, so that the memory of the last process is free again, also in the host of a virtual machine. */
    private static void settle() throws IOException {
        try {
            TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait before a measurement was interrupted", e);
        }
    }

    private static double seconds(CProgram memset, long bytes) throws IOException {
        Process process = memset.start(Long.toString(bytes));
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            String nanoseconds = output.readLine();
            if (process.waitFor() != 0 || nanoseconds == null) {
                throw new IOException("the memset exited with status " + process.exitValue()
                    + ", possibly because memory ran out; choose a smaller --size");
            }
            return Long.parseLong(nanoseconds) / SECOND_NS;
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("the wait for the memset was interrupted", e);
        }
    }

    private static double seconds(String modeldisk, long bytes, String consistency) throws IOException {
        long begun = System.nanoTime();
        try (
            ChildProcess _ = ChildProcess.start(modeldisk, "serve", "--model", "bench", "--size", Long.toString(bytes),
                "--listen", "127.0.0.1:0", "--consistency", consistency, "--datamover", "tcp", "--tuning", "none")) {
            return (System.nanoTime() - begun) / SECOND_NS;
        }
    }
}
