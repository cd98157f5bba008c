package io.modeldisk.mount.fuse;

import java.io.IOException;
import java.nio.file.Path;

/** One way to speak FUSE. Thread-safe. */
public interface FuseBinding {
    /** Whether this machine can mount with it. */
    boolean isAvailable();

    /** Why not, in words; empty if it can. */
    String unavailabilityCause();

    /**
     * Mounts over an existing directory and starts to serve.
     *
     * @throws IOException if it cannot; nothing is left behind
     */
    FuseSession mount(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException;

    /**
     * Unmounts what some process mounted; returns when the kernel has agreed.
     *
     * @throws IOException with the reason, as that a file is open
     */
    void unmount(Path directory) throws IOException;
}
