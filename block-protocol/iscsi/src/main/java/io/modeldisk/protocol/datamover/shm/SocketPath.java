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
     * The default directory of sockets. The directory is in {@code XDG_RUNTIME_DIR}. If that variable is not set, the directory
     * is in /run for root and in /tmp for other users.
     */
    public static Path defaultDirectory() {
        String runtime = Processes.environment("XDG_RUNTIME_DIR");
        if (runtime != null) {
            return Path.of(runtime, FOLDER);
        }
        int user = Processes.effectiveUserId();
        return user == 0 ? Path.of("/run", FOLDER) : Path.of("/tmp", FOLDER + "-" + user);
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
