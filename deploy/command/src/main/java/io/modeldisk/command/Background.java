package io.modeldisk.command;

import io.modeldisk.platform.linux.Terminal;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;

/**
 * A command in the background. deploy/modeldisk starts this process, prints its lines, and exits when this process has detached
 * from the terminal. Until then, this process writes its errors to the terminal.
 */
final class Background implements AutoCloseable {
    static final String MARKER = "MODELDISK_IN_BACKGROUND";
    private static final Path NO_LOG = Path.of("/dev/null");

    private final Terminal terminal;

    /**
     * Prepares to detach this process, and opens its log.
     *
     * @param log the log file; null for none
     * @throws IOException if the log file cannot be opened
     */
    Background(Path log) throws IOException {
        terminal = new Terminal(log == null ? NO_LOG : log);
    }

    /** Returns whether the script waits for this process to detach. */
    static boolean isUsed() {
        return System.getenv(MARKER) != null;
    }

    /** Detaches this process from the terminal. Returns the output to the script, which exits when the output is closed. */
    PrintStream detach() {
        System.out.flush();
        return new PrintStream(terminal.leave(), true, System.out.charset());
    }

    @Override
    public void close() {
        terminal.close();
    }
}
