package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;

/** A handle of a file that processes only read. */
public interface ReadOnlyHandle extends FileHandle {
    @Override
    default int write(long offset, int lengthBytes, DataRequest request) throws ErrnoException {
        throw new ErrnoException(Errno.EACCES, "the file is read-only");
    }

    @Override
    default void synchronize(Cancellation cancellation) {
        // Nothing to do: there are no writes.
    }

    @Override
    default void flush(Cancellation cancellation) {
        // Nothing to do: there are no writes.
    }

    @Override
    default void release() {
        // Nothing to do: by default, a handle owns no resources.
    }
}
