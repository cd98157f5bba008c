package io.modeldisk.bench.aggregator;

import io.modeldisk.bench.baseline.CProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/** A child process that runs the optimizers as loops in C. */
final class CLoop implements AutoCloseable {
    private static final Set<String> LOOPS = Set.of("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam",
        "adamw");

    private final CProgram program;
    private final Process process;
    private final BufferedReader answers;
    private final Writer requests;

    private CLoop(CProgram program, Process process) {
        this.program = program;
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
        CProgram program = CProgram.compile(CLoop.class, "optimizers");
        try {
            return new CLoop(program, program.start(Long.toString(bytes), Integer.toString(blockBytes)));
        } catch (IOException e) {
            program.close();
            throw e;
        }
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
            throw new IOException("the C loop exited, possibly because memory ran out; choose a smaller --size");
        }
        return Long.parseLong(answer.substring(0, answer.indexOf(' ')));
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        program.close();
    }
}
