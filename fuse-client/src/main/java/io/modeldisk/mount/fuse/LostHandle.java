package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;

/** A file that was open when another process took the mount over, and whose content that process does not have. */
public record LostHandle(String reason) implements FileHandle {
    private ErrnoException lost() {
        return new ErrnoException(Errno.ESTALE, reason);
    }

    @Override
    public void read(long offset, int lengthBytes, DataRequest request) throws ErrnoException {
        throw lost();
    }

    @Override
    public int write(long offset, int lengthBytes, DataRequest request) throws ErrnoException {
        throw lost();
    }

    @Override
    public void synchronize(Cancellation cancellation) throws ErrnoException {
        throw lost();
    }
}
