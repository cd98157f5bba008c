package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Processes;
import java.nio.file.Path;

/**
 * The path of a target's socket: {@code MODEL-PORT.sock} in a directory of the server's user. An initiator derives the path
 * from the target's name and TCP port.
 */
public final class SocketPath {
    private static final String FOLDER = "modeldisk";

    private SocketPath() {}

    /**
     * The default directory of sockets. For root, the directory is in /run, where the shards of the Debian package have their
     * sockets too. For other users, the directory is in {@code XDG_RUNTIME_DIR}, or without that variable in /tmp.
     */
    public static Path defaultDirectory() {
        return defaultDirectory(Processes.effectiveUserId(), Processes.environment("XDG_RUNTIME_DIR"));
    }

    static Path defaultDirectory(int user, String runtime) {
        if (user == 0) {
            // Root has XDG_RUNTIME_DIR in a session, but not in a service.
            return Path.of("/run", FOLDER);
        }
        return runtime == null || runtime.isEmpty() ? Path.of("/tmp", FOLDER + "-" + user) : Path.of(runtime, FOLDER);
    }

    /**
     * Returns the path of a target's socket in a directory. The file name consists of the target's TCP port and the part of the
     * target's iSCSI name after the last colon.
     */
    public static Path of(Path directory, String targetName, int port) {
        String model = targetName.substring(targetName.lastIndexOf(':') + 1);
        return directory.resolve(model + "-" + port + ".sock");
    }
}
