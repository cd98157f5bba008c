package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Processes;
import java.nio.file.Path;

/**
 * The path of a target's socket: {@code MODEL-PORT.sock} in a directory of its user. An initiator finds it by the target's name
 * and TCP port.
 */
public final class SocketPath {
    private static final String FOLDER = "modeldisk";

    private SocketPath() {}

    /** The default directory: in {@code XDG_RUNTIME_DIR}; without that variable, in /run for root and in /tmp for others. */
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
