package io.modeldisk.mount.fuse;

import java.util.List;

/** What a binding serves: one directory of files that stay the same for the life of the mount. Thread-safe. */
public interface FuseFileSystem {
    /** The files, always the same list. */
    List<MountedFile> files();

    /** What {@code df} shows as the size. */
    long capacityBytes();
}
