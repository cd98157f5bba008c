package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Processes;
import java.io.IOException;
import java.nio.file.Path;

/** Unmounts a directory, as root or as a user. Thread-safe. */
public interface Unmounter {
    /** Returns an unmounter for the user of this process. */
    static Unmounter ofThisUser() {
        return Processes.effectiveUserId() == 0 ? new RootUnmounter() : new UserMount();
    }

    /**
     * Unmounts a directory that this or another process has mounted. Returns when the kernel has accepted the unmount.
     *
     * @throws IOException if the unmount fails, for example because a file is open; the message has the reason
     */
    void unmount(Path directory) throws IOException;

    /**
     * Unmounts the directory even if files are open. For a normal user, the kernel ends the FUSE session only after all files are
     * closed. A failure is logged.
     */
    void unmountForGood(Path directory);
}
