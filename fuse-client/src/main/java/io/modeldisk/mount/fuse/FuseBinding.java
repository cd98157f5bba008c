package io.modeldisk.mount.fuse;

import java.io.IOException;
import java.nio.file.Path;

/** An implementation of FUSE, which mounts file systems and serves them from this process. Thread-safe. */
public interface FuseBinding {
    /** Returns whether this process can mount. */
    default boolean isAvailable() {
        return unavailabilityCause().isEmpty();
    }

    /** Returns the reason why this process cannot mount, with a remedy. Returns an empty string if it can mount. */
    String unavailabilityCause();

    /**
     * Mounts a file system on an existing directory and starts to serve it.
     *
     * @throws IOException if the mount fails; a failure leaves no mount
     */
    FuseSession mount(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException;

    /**
     * Unmounts a directory that this or another process has mounted. Returns when the kernel has accepted the unmount.
     *
     * @throws IOException if the unmount fails, for example because a file is open; the message has the reason
     */
    void unmount(Path directory) throws IOException;
}
