package io.modeldisk.system;

import static io.modeldisk.test.Await.await;

import io.modeldisk.test.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A process that a test has started. Its output is in a file.
 *
 * @param name the name of the process in messages
 * @param process the process
 * @param log the file with the standard output and standard error of the process
 */
record Running(String name, Process process, Path log) {
    String output() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Waits for a line that starts with {@code start}, and returns the line. Fails if the process exits before it prints such a
     * line.
     */
    String awaitLine(String start) throws Exception {
        await(() -> name + " prints a line that starts with '" + start + "'; its output is:\n" + output(), Await.BOUND,
            () -> line(start) != null || !process.isAlive());
        String line = line(start);
        if (line == null) {
            throw new AssertionError(
                name + " exited with status " + process.exitValue() + " before it printed '" + start
                    + "'; its output is:\n" + output());
        }
        return line;
    }

    private String line(String start) {
        String text = output();
        // The text after the last line feed might be an incomplete line.
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().filter(line -> line.startsWith(start)).findFirst()
            .orElse(null);
    }

    /** Waits until the process exits and returns its exit status. */
    int awaitEnd() throws Exception {
        if (!process.waitFor(Await.BOUND.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(name + " did not exit in time; its output is:\n" + output());
        }
        return process.exitValue();
    }

    /** Sends a signal, such as {@code INT} or {@code KILL}, to the process. */
    void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).inheritIO().start().waitFor();
    }
}
