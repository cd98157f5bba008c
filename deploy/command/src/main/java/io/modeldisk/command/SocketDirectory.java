package io.modeldisk.command;

import io.modeldisk.protocol.datamover.shm.SocketPath;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where the sockets are by which learners and shards on one host share memory: alike for both. */
final class SocketDirectory {
    @Option(names = "--shm-directory", paramLabel = "DIR",
        description = "Where the sockets of the shm datamover are, a directory of this user alone: by default modeldisk in "
            + "XDG_RUNTIME_DIR; without one, in /run for root, else /tmp/modeldisk-UID.")
    private Path directory;

    Path directory() {
        return directory == null ? SocketPath.defaultDirectory() : directory;
    }
}
