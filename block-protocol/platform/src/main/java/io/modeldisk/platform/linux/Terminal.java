package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.file.Path;

/** The terminal from which this process was started. */
public final class Terminal {
    private static final int O_WRONLY = 1;
    private static final int O_APPEND = 0x400;
    private static final int STANDARD_OUTPUT = 1;
    private static final int STANDARD_ERROR = 2;

    private Terminal() {}

    /**
     * Detaches this process from its terminal: starts a new session, and appends the standard output and the standard error to a
     * file.
     *
     * @param file an existing file
     * @throws IOException if the file cannot be opened; the message names the file and the reason
     */
    public static void leave(Path file) throws IOException {
        // The call fails if this process already leads a session. Then there is nothing to do.
        CLibrary.call("setsid");
        int descriptor = (int) Errno.check("cannot open " + file,
            Descriptors.open(file.toAbsolutePath().toString(), O_WRONLY | O_APPEND));
        try {
            Errno.check("cannot write to " + file, CLibrary.call("dup2", descriptor, STANDARD_OUTPUT));
            Errno.check("cannot write to " + file, CLibrary.call("dup2", descriptor, STANDARD_ERROR));
        } finally {
            Descriptors.close(descriptor);
        }
    }
}
