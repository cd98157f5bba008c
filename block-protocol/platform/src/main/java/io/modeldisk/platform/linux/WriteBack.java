package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Writes the changes of a file from memory to disk, one range after the other (sync_file_range(2)), so the caller sees progress.
 * For a large file, fsync(2) can take minutes and shows no progress. The caller must still call fsync(2) afterwards, which
 * reports errors and writes everything that sync_file_range(2) has not written.
 */
public final class WriteBack {
    private static final long RANGE_BYTES = 8 << 20;
    /** The flags of sync_file_range(2) that wait for writes in progress, write the range, and wait until the range is written. */
    private static final int WAIT_WRITE_WAIT = 7;

    private WriteBack() {}

    /** Reports the progress to the caller. Called after each range of 8 MiB. */
    @FunctionalInterface
    public interface Progress {
        void advanced() throws IOException;
    }

    /**
     * Writes the first {@code bytes} of a file to disk. Returns early if the file system does not support sync_file_range(2).
     *
     * @throws IOException if {@code progress} throws it
     */
    public static void of(Path file, long bytes, Progress progress) throws IOException {
        int descriptor = Descriptors.open(file.toString(),
            Descriptors.O_CLOEXEC | Descriptors.O_NONBLOCK | Descriptors.O_NOFOLLOW);
        if (descriptor < 0) {
            return;
        }
        try {
            boolean written = true;
            for (long offset = 0; written && offset < bytes; offset += RANGE_BYTES) {
                written = CLibrary.call("sync_file_range", descriptor, offset, Math.min(RANGE_BYTES, bytes - offset),
                    WAIT_WRITE_WAIT) == 0;
                progress.advanced();
            }
        } finally {
            Descriptors.close(descriptor);
        }
    }
}
