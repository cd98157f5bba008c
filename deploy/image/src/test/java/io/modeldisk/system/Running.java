package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
            () -> !lines(start).isEmpty() || !process.isAlive());
        List<String> lines = lines(start);
        if (lines.isEmpty()) {
            throw new AssertionError(
                name + " exited with status " + process.exitValue() + " before it printed '" + start
                    + "'; its output is:\n" + output());
        }
        return lines.getFirst();
    }

    /** Returns the complete lines of the output that start with {@code start}. */
    List<String> lines(String start) {
        String text = output();
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().filter(line -> line.startsWith(start)).toList();
    }

    /** Waits for this number of lines that start with {@code start}. Fails if the process exits before. */
    void awaitLines(String start, long count) {
        await(() -> name + " prints " + count + " lines that start with '" + start + "'; its output is:\n" + output(),
            Await.BOUND, () -> lines(start).size() >= count || !process.isAlive());
        assertThat(process.isAlive()).as(output()).isTrue();
    }

    /** Waits until the process exits and returns its exit status. */
    int awaitEnd() throws Exception {
        if (!process.waitFor(Await.BOUND.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(name + " did not exit in time; its output is:\n" + output());
        }
        return process.exitValue();
    }

    /** Kills the process with SIGKILL and waits until it has exited. */
    void kill() throws Exception {
        kill(List.of(this));
    }

    /** Kills all processes with SIGKILL and then waits until they have exited. */
    static void kill(List<Running> processes) throws Exception {
        for (Running process : processes) {
            process.signal("KILL");
        }
        for (Running process : processes) {
            process.awaitEnd();
        }
    }

    /** Sends a signal, such as {@code INT} or {@code KILL}, to the process. */
    void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).inheritIO().start().waitFor();
    }
}
