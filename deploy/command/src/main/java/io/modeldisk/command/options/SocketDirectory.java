package io.modeldisk.command.options;

import io.modeldisk.platform.SettingException;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option for the directory with the sockets of the datamover shm. Shards and mounts have this option. */
public final class SocketDirectory {
    @Option(names = "--shm-directory", paramLabel = "DIR",
        description = "The directory of the shm datamover's sockets. Other users must not be able to replace the "
            + "sockets. Default: "
            + "/run/modeldisk for root; for other users modeldisk in XDG_RUNTIME_DIR, without that variable /tmp/modeldisk-UID.")
    private Path directory;

    /** Returns the directory for a shard. The shard creates the directory. */
    public Path directory() {
        return directory == null ? SocketPath.defaultDirectory() : directory;
    }

    /**
     * Returns the directory in which a process looks for the sockets of shards.
     *
     * @throws IOException if the option names something that is not a directory
     */
    public Path existing() throws IOException {
        if (directory != null && !Files.exists(directory)) {
            // Not a SettingException (exit status 2): a shard that starts later may create the directory.
            throw new IOException("--shm-directory " + directory
                + " does not exist; give the directory that `modeldisk serve` uses, or leave the option out");
        }
        if (directory != null && !Files.isDirectory(directory)) {
            throw new SettingException("--shm-directory " + directory + " is not a directory");
        }
        return directory();
    }
}
