package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A directory with a fixed list of files. Thread-safe. */
public interface FuseFileSystem {
    /** Returns the files. The list is the same in every call. */
    List<MountedFile> files();

    /** Returns the index of a file in {@link #files}, from its node number. */
    static int indexOf(long node) {
        return (int) (Nodes.withoutInstance(node) - Nodes.FIRST_FILE_NODE);
    }

    /** Returns the names of the extended attributes of the directory. */
    List<String> attributeNames();

    /** Returns the value of an extended attribute of the directory, or empty if the attribute has no value. */
    Optional<String> attribute(String name);

    /** Returns the size that df(1) shows. */
    long capacityBytes();

    /**
     * Sends the commands that started requests have held back. A thread that has started requests calls this method before it
     * waits.
     */
    default void flush() {}

    /**
     * Records that a request has failed, and returns the error number that its process receives. For an {@link ErrnoException},
     * the result is ignored, because the exception contains the number. This method is not called for a failure that is part of
     * normal use, such as a lookup of a missing name.
     */
    Errno errno(IOException failure);
}
