package io.modeldisk.mount.fuse;

import java.io.IOException;
import java.nio.file.Path;

/** Unmounts, as root or as a user. Thread-safe. */
interface Unmounter {
    /** Unmounts if nothing is open. */
    void unmount(Path directory) throws IOException;

    /** Unmounts whatever is open, and makes the kernel end the session. Logs what does not work. */
    void unmountForGood(Path directory);
}
