package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Writes the changes of a file from memory to disk, one range after the other (sync_file_range(2)), so the caller sees
 * progress. fsync(2) may take minutes for a large file and shows none. The caller still calls fsync(2), which reports errors and
 * writes what the file system does not write range by range.
 */
public final class WriteBack {
    private static final long RANGE_BYTES = 8 << 20;
    /** Waits for writes in progress, writes, and waits for these writes. */
    private static final int WAIT_WRITE_WAIT = 7;

    private WriteBack() {}

    /** Is called after each range of 8 MiB. */
    @FunctionalInterface
    public interface Progress {
        void advanced() throws IOException;
    }

    /**
     * Writes the first {@code bytes} of a file to disk. Returns early if the file system cannot do so.
     *
     * @throws IOException if {@code progress} has thrown it
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
