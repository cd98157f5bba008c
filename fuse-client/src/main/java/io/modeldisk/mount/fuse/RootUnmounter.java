package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.Mounts;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Unmounts with umount2(2), which needs root. */
final class RootUnmounter implements Unmounter {
    private static final Logger LOG = LogManager.getLogger(RootUnmounter.class);

    @Override
    public void unmount(Path directory) throws IOException {
        int unmounted = Mounts.unmount(directory.toString(), Mounts.UMOUNT_NOFOLLOW);
        if (unmounted == -Errno.EBUSY.number()) {
            throw new IOException(
                directory + " is in use: a process has an open file or its working directory there"
                    + " (to find the process: fuser -vm " + directory + ")");
        }
        if (unmounted < 0) {
            throw new IOException("cannot unmount " + directory + ": " + Errno.nameOf(-unmounted));
        }
    }

    @Override
    public void unmountForGood(Path directory) {
        if (Mounts.unmount(directory.toString(), Mounts.UMOUNT_NOFOLLOW) >= 0) {
            return;
        }
        // MNT_FORCE aborts the FUSE session even if files are open. MNT_DETACH removes the mount from the directory immediately.
        int unmounted = Mounts.unmount(directory.toString(),
            Mounts.MNT_FORCE | Mounts.MNT_DETACH | Mounts.UMOUNT_NOFOLLOW);
        if (unmounted < 0) {
            LOG.warn("cannot unmount {}: {}", directory, Errno.nameOf(-unmounted));
        }
    }
}
