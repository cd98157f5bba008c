package io.modeldisk.mount.fuse;

import java.io.IOException;
import java.nio.file.Path;

/** Unmounts a directory, as root or as a user. Thread-safe. */
interface Unmounter {
    /** Unmounts the directory. Fails if a file is open. */
    void unmount(Path directory) throws IOException;

    /**
     * Unmounts the directory even if files are open. If a normal user unmounts, the kernel closes the session only after all
     * files are closed. Logs a failure.
     */
    void unmountForGood(Path directory);
}
