package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.util.List;

/** A directory whose files stay the same for the life of the mount. Thread-safe. */
public interface FuseFileSystem {
    /** The files, always the same list. */
    List<MountedFile> files();

    /** The size that {@code df} shows. */
    long capacityBytes();

    /** The error number that answers a failed request; not called for an {@link ErrnoException} or a cancelled request. */
    Errno errno(IOException failure);
}
