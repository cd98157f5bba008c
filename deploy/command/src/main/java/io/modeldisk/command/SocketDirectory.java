package io.modeldisk.command;

import io.modeldisk.protocol.datamover.shm.SocketPath;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option for the directory of the sockets of the datamover shm. Shards and mounts have this option. */
final class SocketDirectory {
    @Option(names = "--shm-directory", paramLabel = "DIR",
        description = "The directory of the shm datamover's sockets. Only this user may have access to the directory. Default: "
            + "modeldisk in XDG_RUNTIME_DIR; without that variable /run/modeldisk for root, /tmp/modeldisk-UID for other users.")
    private Path directory;

    Path directory() {
        return directory == null ? SocketPath.defaultDirectory() : directory;
    }
}
