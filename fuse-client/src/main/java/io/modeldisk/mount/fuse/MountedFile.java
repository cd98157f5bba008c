package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A file of the mount. Thread-safe. */
public interface MountedFile {
    /** Returns the name in the directory. */
    String name();

    /** Returns whether the file can be opened for writing. */
    boolean isWritable();

    /** Returns whether a read, write or fsync may wait for other processes. If false, only an open or getxattr(2) may wait. */
    boolean movesData();

    /** Returns the current size; 0 for a file that is generated at each open, as in /proc. */
    long sizeBytes();

    /** Returns the time of the last change of the contents, in milliseconds since 1970. */
    long modifiedMs();

    /** Returns the names of the extended attributes, such as {@code user.x}. */
    default List<String> attributeNames() {
        return List.of();
    }

    /** Returns the value of an extended attribute. Returns empty if the name is unknown or the attribute has no value now. */
    default Optional<String> attribute(String name) {
        return Optional.empty();
    }

    /**
     * Opens the file.
     *
     * @param writable whether the file is opened for writing
     * @throws IOException if the open fails; {@link FileHandle} describes the error number that the process receives
     */
    FileHandle open(boolean writable, Cancellation cancellation) throws IOException;
}
