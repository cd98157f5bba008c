package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A file of the mount. Thread-safe. */
public interface MountedFile {
    /** Its name in the directory. */
    String name();

    /** Whether it can be opened for writing. */
    boolean isWritable();

    /** Whether its requests move data and may wait for a round; otherwise only its open may wait, for the shards' status. */
    boolean movesData();

    /** Its size now; 0 where reading tells. */
    long sizeBytes();

    /** When its contents last changed, in milliseconds since 1970. */
    long modifiedMs();

    /** The names of its extended attributes, as {@code user.x}. */
    default List<String> attributeNames() {
        return List.of();
    }

    /** The value of an extended attribute; empty if it has none of this name, or none now. */
    default Optional<String> attribute(String name) {
        return Optional.empty();
    }

    /**
     * Opens it.
     *
     * @param writable whether it is opened for writing
     * @throws IOException an {@link ErrnoException} to choose the error; any other becomes EIO, or EINTR when cancelled
     */
    FileHandle open(boolean writable, Cancellation cancellation) throws IOException;
}
