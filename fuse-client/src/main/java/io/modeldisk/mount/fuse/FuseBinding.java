package io.modeldisk.mount.fuse;

import java.io.IOException;
import java.nio.file.Path;

/** An implementation of FUSE: mounts directories, and serves them from this process. Thread-safe. */
public interface FuseBinding {
    /** Whether this process can mount. */
    default boolean isAvailable() {
        return unavailabilityCause().isEmpty();
    }

    /** Why this process cannot mount, and the remedy; empty if it can. */
    String unavailabilityCause();

    /**
     * Mounts over an existing directory and starts to serve.
     *
     * @throws IOException if that fails; nothing is left behind
     */
    FuseSession mount(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException;

    /**
     * Unmounts a directory that this or another process has mounted; returns when the kernel has accepted that.
     *
     * @throws IOException with the reason, such as an open file
     */
    void unmount(Path directory) throws IOException;
}
