package io.modeldisk.system;

import static io.modeldisk.test.Await.await;

import io.modeldisk.test.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A process that a test started; what it says goes to a file.
 *
 * @param name what the test calls it
 * @param process the process
 * @param log its standard output and error
 */
record Running(String name, Process process, Path log) {
    String output() throws IOException {
        return Files.readString(log);
    }

    /** Waits for a line that starts so, and returns it. */
    String awaitLine(String start) throws Exception {
        await(name + " says '" + start + "'; it said:\n" + output(), () -> line(start) != null || !process.isAlive());
        String line = line(start);
        if (line == null) {
            throw new AssertionError(
                name + " ended with " + process.exitValue() + " before it said '" + start + "':\n" + output());
        }
        return line;
    }

    private String line(String start) throws IOException {
        String text = output();
        // What follows the last line feed is not a whole line yet.
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().filter(line -> line.startsWith(start)).findFirst()
            .orElse(null);
    }

    /** Waits for its end, and returns its status. */
    int awaitEnd() throws Exception {
        if (!process.waitFor(Await.BOUND.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(name + " did not end; it said:\n" + output());
        }
        return process.exitValue();
    }

    /** Sends a signal, as {@code INT} or {@code KILL}. */
    void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).inheritIO().start().waitFor();
    }
}
