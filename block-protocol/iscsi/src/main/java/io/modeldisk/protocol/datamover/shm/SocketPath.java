package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Processes;
import java.nio.file.Path;

/**
 * Where a target's socket is: {@code MODEL-PORT.sock} in a directory that is its user's alone. So an initiator that knows the
 * target's name and its TCP port finds it.
 */
public final class SocketPath {
    private static final String FOLDER = "modeldisk";

    private SocketPath() {}

    /** The directory unless another is chosen: in {@code XDG_RUNTIME_DIR}; without one, in /run for root, else in /tmp. */
    public static Path defaultDirectory() {
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty()) {
            return Path.of(runtime, FOLDER);
        }
        int user = Processes.effectiveUserId();
        return user == 0 ? Path.of("/run", FOLDER) : Path.of("/tmp", FOLDER + "-" + user);
    }

    /** The socket of a target in a directory, by the part of its iSCSI name behind the last colon, and its TCP port. */
    public static Path of(Path directory, String targetName, int port) {
        String model = targetName.substring(targetName.lastIndexOf(':') + 1);
        return directory.resolve(model + "-" + port + ".sock");
    }
}
