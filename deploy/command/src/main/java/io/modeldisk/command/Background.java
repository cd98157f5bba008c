package io.modeldisk.command;

import io.modeldisk.platform.linux.Terminal;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A command in the background. deploy/modeldisk starts this process, prints its lines, and exits when this process detaches from
 * the terminal. Until then, this process writes its errors to the terminal.
 */
final class Background {
    static final String MARKER = "MODELDISK_IN_BACKGROUND";
    private static final Path NO_LOG = Path.of("/dev/null");

    private Background() {}

    /** Returns whether the script waits for this process to detach. */
    static boolean isUsed() {
        return System.getenv(MARKER) != null;
    }

    /**
     * Detaches this process from the terminal, and appends its output to the log.
     *
     * @param log the log file; null for none
     */
    static void detach(Path log) throws IOException {
        System.out.flush();
        if (log != null) {
            try {
                Files.createFile(log,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----")));
            } catch (FileAlreadyExistsException e) {
                // This process appends to the file.
            }
        }
        Terminal.leave(log == null ? NO_LOG : log);
    }
}
