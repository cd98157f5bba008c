package io.modeldisk.bench.aggregator;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A child process that runs sgd as a loop in C. The C program is compiled for the processor of this machine. */
final class CLoop implements AutoCloseable {
    private static final String[] COMPILER = {"gcc", "-O3", "-march=native"};

    private final Path directory;
    private final Process process;
    private final BufferedReader answers;
    private final Writer requests;

    private CLoop(Path directory, Process process) {
        this.directory = directory;
        this.process = process;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.requests = process.outputWriter(StandardCharsets.UTF_8);
    }

    /**
     * Compiles the C program and starts it as a child process.
     *
     * @throws IOException if gcc is missing or fails
     */
    static CLoop start(long bytes, int blockBytes) throws IOException {
        Path directory = Files.createTempDirectory("modeldisk-bench");
        try {
            Path source = directory.resolve("sgd.c");
            Path program = directory.resolve("sgd");
            try (InputStream text = CLoop.class.getResourceAsStream("sgd.c")) {
                Files.copy(text, source, StandardCopyOption.REPLACE_EXISTING);
            }
            compile(source, program);
            return new CLoop(directory, new ProcessBuilder(program.toString(), Long.toString(bytes),
                Integer.toString(blockBytes)).redirectError(ProcessBuilder.Redirect.INHERIT).start());
        } catch (IOException e) {
            delete(directory);
            throw e;
        }
    }

    private static void compile(Path source, Path program) throws IOException {
        Process gcc;
        try {
            gcc = new ProcessBuilder(COMPILER[0], COMPILER[1], COMPILER[2], "-o", program.toString(), source.toString())
                .redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new IOException("the C loop was not compiled because gcc is missing; install gcc and libc6-dev", e);
        }
        try (BufferedReader output = new BufferedReader(
            new InputStreamReader(gcc.getInputStream(), StandardCharsets.UTF_8))) {
            String said = String.join("\n", output.readAllLines());
            if (gcc.waitFor() != 0) {
                throw new IOException("the C loop was not compiled because gcc failed:\n" + said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for gcc was interrupted", e);
        }
    }

    /** Runs {@code sgd} or {@code copy} once on the whole arrays of the child process. Returns the duration in nanoseconds. */
    long pass(String kind) throws IOException {
        requests.write(kind + "\n");
        requests.flush();
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the C loop exited, possibly because memory ran out; choose a smaller --size");
        }
        return Long.parseLong(answer.substring(0, answer.indexOf(' ')));
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        delete(directory);
    }

    private static void delete(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve("sgd.c"));
        Files.deleteIfExists(directory.resolve("sgd"));
        Files.delete(directory);
    }
}
