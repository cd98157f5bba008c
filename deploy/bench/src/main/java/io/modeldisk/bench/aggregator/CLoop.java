package io.modeldisk.bench.aggregator;

import io.modeldisk.bench.shard.ChildProcess;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.platform.linux.Processes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/**
 * A child process that runs the optimizers as loops in C, compiled with gcc for the processor of this machine. The program is
 * deleted when this object is closed.
 */
final class CLoop implements AutoCloseable {
    private static final Set<String> LOOPS = Set.of("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam",
        "adamw");
    private static final String NAME = "optimizers";

    private final Closing opened = new Closing();
    private final Path directory;
    private Process process;
    private BufferedReader answers;
    private Writer requests;

    private CLoop() throws IOException {
        this.directory = opened.folder();
    }

    /**
     * Compiles the C program and starts it as a child process.
     *
     * @throws IOException if gcc is missing or fails
     */
    static CLoop start(long bytes, int blockBytes) throws IOException {
        CLoop loop = new CLoop();
        try {
            loop.compile();
            loop.process = new ProcessBuilder(loop.file(""), Long.toString(bytes), Integer.toString(blockBytes))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            loop.answers = loop.process.inputReader(StandardCharsets.UTF_8);
            loop.requests = loop.process.outputWriter(StandardCharsets.UTF_8);
            return loop;
        } catch (IOException e) {
            loop.close();
            throw e;
        }
    }

    private String file(String ending) {
        return directory.resolve(NAME + ending).toString();
    }

    private void compile() throws IOException {
        try (InputStream text = CLoop.class.getResourceAsStream(NAME + ".c")) {
            Files.copy(text, Path.of(file(".c")));
        }
        if (!Processes.isInstalled("gcc")) {
            throw new IOException(
                "the C program was not compiled because gcc is missing; install gcc and libc6-dev");
        }
        ChildProcess.run("gcc", "-O3", "-march=native", "-fno-math-errno", "-o", file(""), file(".c"), "-lm");
    }

    /** Returns whether the program has a loop for an aggregator. */
    static boolean has(String aggregator) {
        return LOOPS.contains(aggregator);
    }

    /**
     * Runs the loop of an optimizer, or {@code copy}, once on the whole arrays of the child process. Returns the duration in
     * nanoseconds.
     */
    long pass(String kind) throws IOException {
        requests.write(kind + "\n");
        requests.flush();
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the C loop exited, possibly because memory ran out; it needs three times 512 MiB");
        }
        return Long.parseLong(answer.substring(0, answer.indexOf(' ')));
    }

    @Override
    public void close() throws IOException {
        if (process != null) {
            process.destroy();
        }
        opened.close();
    }
}
