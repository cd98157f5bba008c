package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.util.List;

/** A directory with a fixed list of files. Thread-safe. */
public interface FuseFileSystem {
    /** Returns the files, always as the same list. */
    List<MountedFile> files();

    /** Returns the size that df(1) shows. */
    long capacityBytes();

    /** Returns the error number for a failed request. Is not called for an {@link ErrnoException} or a cancelled request. */
    Errno errno(IOException failure);
}
