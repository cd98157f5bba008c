package io.modeldisk.command;

import io.modeldisk.protocol.datamover.shm.SocketPath;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The directory of the sockets of the datamover shm, the same option for shards and mounts. */
final class SocketDirectory {
    @Option(names = "--shm-directory", paramLabel = "DIR",
        description = "The directory of the shm datamover's sockets, accessible to this user only. Default: modeldisk in "
            + "XDG_RUNTIME_DIR; without that variable /run/modeldisk for root, /tmp/modeldisk-UID for others.")
    private Path directory;

    Path directory() {
        return directory == null ? SocketPath.defaultDirectory() : directory;
    }
}
