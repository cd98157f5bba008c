package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Runs a program of the machine, such as {@code journalctl}, for a bounded time. */
final class Program {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private Program() {}

    /**
     * Returns the output and the errors of a program, at most the last 1 MiB. The program is killed if it has not ended after
     * 10 seconds.
     *
     * @throws IOException if the program cannot be started, or prints nothing
     */
    static String output(String... command) throws IOException {
        return output(LIMIT, command);
    }

    static String output(Duration limit, String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (InputStream in = process.getInputStream()) {
            process.getOutputStream().close();
            // Ends the read below if the program hangs.
            process.onExit().orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(_ -> process.destroyForcibly());
            String output = Text.end(in);
            if (output.isEmpty()) {
                throw new IOException(String.join(" ", command) + " has printed nothing");
            }
            return output;
        } finally {
            process.destroyForcibly();
        }
    }
}
