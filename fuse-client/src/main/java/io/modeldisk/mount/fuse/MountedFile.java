package io.modeldisk.mount.fuse;

import io.modeldisk.protocol.striping.Cancellation;
import java.io.IOException;

/** A file of the mount. Thread-safe. */
public interface MountedFile {
    /** Its name in the directory. */
    String name();

    /** Its permission bits, as {@code 0666}. */
    int permissions();

    /** Its size now; 0 where reading tells. */
    long sizeBytes();

    /** When its contents last changed, in milliseconds since 1970. */
    long modifiedMs();

    /**
     * Opens it.
     *
     * @param writable whether it is opened for writing
     * @throws IOException an {@link ErrnoException} to choose the error; any other becomes EIO, or EINTR when cancelled
     */
    FileHandle open(boolean writable, Cancellation cancellation) throws IOException;
}
