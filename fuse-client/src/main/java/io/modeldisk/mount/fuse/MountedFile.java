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

    /**
     * Returns the path in the mounted directory: the name of the file, or the name of a subdirectory, a slash and the name of the
     * file.
     */
    String name();

    /** The properties in which files differ. */
    enum Trait {
        /** The file can be opened for writing. */
        WRITABLE,
        /** A process can change the file by storing into a shared map of the file (MAP_SHARED). */
        WRITABLE_BY_MAP,
        /** A read, write or fsync of the file never waits for other processes. Only an open or a getxattr(2) can wait. */
        WAITS_AT_OPEN,
        /** The file consists of weights, which any fsync of the mount can change. */
        WEIGHTS,
        /**
         * The content is memory of this process ({@link MountedFile#memory}). The kernel, or the process that opens the file,
         * uses this memory directly, and {@link MountedFile#open} is not called.
         */
        MEMORY,
        /**
         * The content of an open file never changes, but a later open can return other content. Each lookup of the file returns a
         * new inode, so all pages of an inode in the page cache belong to the same content.
         */
        CONSTANT_WHILE_OPEN
    }

    /** Returns whether the file has a trait. The result is the same in every call. Default: false. */
    default boolean is(Trait trait) {
        return false;
    }

    /** Returns the current size. The default is 0, as for a file in /proc, whose text is generated. */
    default long sizeBytes() {
        return 0;
    }

    /**
     * Handles an open(2) with O_TRUNC, or a truncate(2) to 0. The size stays the same, so all bytes of a plain file become 0.
     * Default: does nothing, for a file that accepts gradients and thus has no bytes to clear.
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
     * Returns a handle for a file that was opened when the previous process served the mount. Default: opens a new handle, for
     * files whose open has no side effect.
     *
     * @throws IOException if the handle cannot be used any more; each request for this handle then fails
     */
    default FileHandle resume(boolean writable) throws IOException {
        return open(writable, Cancellation.NONE);
    }

    /**
     * Opens a file that is not memory. The default implementation is for files without {@link Trait#CONSTANT_WHILE_OPEN} that
     * every process can open.
     *
     * @param instance the number of the instance, see {@link Nodes}. All its handles have the same content. 0 if the binding does
     *     not number instances
     */
    default FileHandle open(OpenRequest request, long instance) throws IOException {
        return open(request.writable(), request.cancellation());
    }
}
