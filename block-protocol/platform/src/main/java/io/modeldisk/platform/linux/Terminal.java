package io.modeldisk.platform.linux;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/**
 * The terminal from which this process was started, and the log file that replaces the terminal. All operations that can fail are
 * done in the constructor. Not thread-safe.
 */
public final class Terminal implements AutoCloseable {
    private static final int O_WRONLY = 1;
    private static final int O_CREAT = 0x40;
    private static final int O_APPEND = 0x400;
    private static final int LOG_MODE = 0640;
    private static final int STANDARD_OUTPUT = 1;
    private static final int STANDARD_ERROR = 2;
    private static final String OUTPUT = "/proc/self/fd/" + STANDARD_OUTPUT;
    private static final int CLOSED = -1;

    private final OutputStream output;
    private int log;

    /**
     * Opens the log file, which is created if it does not exist.
     *
     * @throws IOException if the file cannot be opened; the message names the file and the reason
     */
    public Terminal(Path file) throws IOException {
        // O_NONBLOCK is set, because opening a FIFO would otherwise wait for a reader.
        log = (int) Errno.check("cannot open the log file " + file,
            Descriptors.open(file.toAbsolutePath().toString(),
                O_WRONLY | O_APPEND | O_CREAT | Descriptors.O_NONBLOCK | Descriptors.O_CLOEXEC, LOG_MODE));
        Descriptors.fcntl(log, Descriptors.F_SETFL, O_APPEND);
        try {
            output = new FileOutputStream(OUTPUT, true);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /**
     * Detaches this process from its terminal: starts a new session, and appends the standard output and the standard error to
     * the log file.
     *
     * @return the previous standard output, which the caller closes
     */
    public OutputStream leave() {
        // The call of setsid(2) fails if this process already leads a session. No new session is needed then.
        CLibrary.call("setsid");
        CLibrary.call("dup2", log, STANDARD_OUTPUT);
        CLibrary.call("dup2", log, STANDARD_ERROR);
        close();
        return output;
    }

    /** Closes the log file. Has no effect after {@link #leave}. */
    @Override
    public void close() {
        if (log != CLOSED) {
            Descriptors.close(log);
            log = CLOSED;
        }
    }
}
