package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A file of the mount. Thread-safe. */
public interface MountedFile {
    /** The name in the directory. */
    String name();

    /** Whether the file can be opened for writing. */
    boolean isWritable();

    /** Whether reads, writes and fsync of the file may wait for others. If not, only open and attributes may. */
    boolean movesData();

    /** The size now; 0 for a file that is made when it is opened, as in /proc. */
    long sizeBytes();

    /** The time of the last change of the contents, in milliseconds since 1970. */
    long modifiedMs();

    /** The names of the extended attributes, such as {@code user.x}. */
    default List<String> attributeNames() {
        return List.of();
    }

    /** The value of an extended attribute; empty if there is none of this name, or no value now. */
    default Optional<String> attribute(String name) {
        return Optional.empty();
    }

    /**
     * Opens the file.
     *
     * @param writable whether it is opened for writing
     * @throws IOException answered as {@link FuseFileSystem#errno} says, and with EINTR if the request was cancelled
     */
    FileHandle open(boolean writable, Cancellation cancellation) throws IOException;
}
