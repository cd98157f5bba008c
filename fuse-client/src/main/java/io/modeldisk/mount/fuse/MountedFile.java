package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A file of the mount. Thread-safe. */
public interface MountedFile {
    /** The beginning of the name of each extended attribute. */
    String ATTRIBUTE_PREFIX = "user.modeldisk.";

    /** Returns the path in the mounted directory: a name, or the name of a subdirectory, a slash and a name. */
    String name();

    /** The properties in which files differ. */
    enum Trait {
        /** The file can be opened for writing. */
        WRITABLE,
        /** A process may change the file by storing into a map of it (MAP_SHARED). */
        WRITABLE_BY_MAP,
        /** A read, write or fsync never waits for other processes: only an open or getxattr(2) may wait. */
        WAITS_AT_OPEN,
        /** The file consists of weights, which any fsync of the mount can change. */
        WEIGHTS,
        /**
         * The content is memory of this process. The kernel or the process that opens the file uses {@link MountedFile#memory}
         * directly, and {@link MountedFile#open} is not called.
         */
        MEMORY,
        /**
         * The content of an open file never changes, although another open may get another content. Each lookup of the file gets
         * an inode of its own, so the pages in the page cache are of one content.
         */
        CONSTANT_WHILE_OPEN
    }

    /** Returns whether the file has a trait, always with the same result. Default: it has none. */
    default boolean is(Trait trait) {
        return false;
    }

    /** Returns the current size. The default is 0, as for a file in /proc, whose text is generated. */
    default long sizeBytes() {
        return 0;
    }

    /**
     * Handles an open(2) with O_TRUNC, or a truncate(2) to 0. The size stays, so all bytes of a plain file become 0. A file that
     * accepts gradients has no bytes to clear.
     */
    default void clear(Cancellation cancellation) throws IOException {
        // Nothing to do.
    }

    /**
     * Returns the shareable memory that is the content of the file.
     *
     * @throws IOException if the memory cannot be allocated, or the call was cancelled
     */
    default DataMemory memory(Cancellation cancellation) throws IOException {
        throw new UnsupportedOperationException(name() + " is not memory");
    }

    /** Returns the names of the extended attributes, such as {@code user.x}. */
    default List<String> attributeNames() {
        return List.of();
    }

    /** Returns the value of an extended attribute. Returns empty if the name is unknown or the attribute has no value now. */
    default Optional<String> attribute(String name) {
        return Optional.empty();
    }

    /**
     * Changes an extended attribute of the file. The default refuses every change.
     *
     * @throws ErrnoException with EINVAL if the value is invalid, and EOPNOTSUPP if the attribute cannot be changed
     * @throws IOException if the shards refuse the change or do not respond
     */
    default void setAttribute(String name, String value) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP, "the attribute " + name + " of " + name()
            + " cannot be changed; set it on model");
    }

    /**
     * Opens a file that is neither memory nor constant while it is open.
     *
     * @param writable whether the file is opened for writing, which needs {@link Trait#WRITABLE}
     * @throws IOException if the open fails; {@link FileHandle} describes the error number that the process receives
     */
    default FileHandle open(boolean writable, Cancellation cancellation) throws IOException {
        throw new UnsupportedOperationException(name() + " is memory");
    }

    /**
     * Returns a handle for a process that has opened the file when another process served the mount. The default is a new handle,
     * for files whose open changes nothing.
     *
     * @throws IOException if the handle cannot be used any more; each request for it fails
     */
    default FileHandle resume(boolean writable) throws IOException {
        return open(writable, Cancellation.NONE);
    }

    /**
     * Opens a file that is not memory. The default is for a file that is not constant while it is open.
     *
     * @param instance the number of the inode; opens of an open inode have the same content. 0 if the binding has no such numbers
     * @param sinceNs the time at which the process began to wait, of the clock of the mount
     */
    default FileHandle open(boolean writable, long instance, long sinceNs, Cancellation cancellation)
        throws IOException {
        return open(writable, cancellation);
    }
}
