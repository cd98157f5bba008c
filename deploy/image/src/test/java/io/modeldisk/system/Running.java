package io.modeldisk.system;

import static io.modeldisk.test.Await.await;

import io.modeldisk.test.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A process that a test started; its output goes to a file.
 *
 * @param name what the test calls it
 * @param process the process
 * @param log its standard output and error
 */
record Running(String name, Process process, Path log) {
    String output() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for a line with this start and returns it; fails if the process ends before. */
    String awaitLine(String start) throws Exception {
        await(() -> name + " prints a line that starts with '" + start + "'; its output:\n" + output(), Await.BOUND,
            () -> line(start) != null || !process.isAlive());
        String line = line(start);
        if (line == null) {
            throw new AssertionError(
                name + " ended with " + process.exitValue() + " before it printed '" + start + "':\n" + output());
        }
        return line;
    }

    private String line(String start) {
        String text = output();
        // The text after the last line feed is not a whole line yet.
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().filter(line -> line.startsWith(start)).findFirst()
            .orElse(null);
    }

    /** Waits until it ends and returns its exit status. */
    int awaitEnd() throws Exception {
        if (!process.waitFor(Await.BOUND.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(name + " did not end; its output:\n" + output());
        }
        return process.exitValue();
    }

    /** Sends a signal, as {@code INT} or {@code KILL}. */
    void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).inheritIO().start().waitFor();
    }
}
