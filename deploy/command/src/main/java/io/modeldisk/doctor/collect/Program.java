package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;

/** Runs a program of the machine, such as {@code journalctl}, for a bounded time. */
final class Program {
    private static final int SECONDS = 10;

    private Program() {}

    /**
     * Returns the output and the errors of a program, at most the last 1 MiB. The program is killed if it has not ended after
     * {@value #SECONDS} seconds.
     *
     * @throws IOException if the program cannot be started, or prints nothing
     */
    static String output(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (InputStream in = process.getInputStream()) {
            process.getOutputStream().close();
            // Ends the read below if the program hangs.
            process.onExit().orTimeout(SECONDS, TimeUnit.SECONDS).exceptionally(_ -> process.destroyForcibly());
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
