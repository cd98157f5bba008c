package io.modeldisk.bench.baseline;

import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Mover;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The baseline for a journal: one thread appends the data of pushes to a file in the temporary directory (java.io.tmpdir), and
 * synchronizes the file after each group of requests that a session has in flight. The file begins again at the size at which a
 * segment of a journal ends. Not thread-safe.
 */
public final class DiskBaseline implements Mover, AutoCloseable {
    private static final long FILE_BYTES = 256L << 20;

    private final ByteBuffer group;
    private final Path file;
    private FileChannel channel;

    /**
     * Creates the file.
     *
     * @param groupBytes the largest number of bytes that are in flight
     */
    public DiskBaseline(int groupBytes) throws IOException {
        group = ByteBuffer.allocateDirect(groupBytes);
        file = Files.createTempFile("modeldisk-bench", ".records");
        channel = FileChannel.open(file, StandardOpenOption.WRITE);
    }

    /** Appends the data of a load. The direction of the load must be push. */
    @Override
    public long move(Load load) throws IOException {
        int groupBytes = Math.min(group.capacity(), load.queueDepth() * load.requestBytes());
        long begun = System.nanoTime();
        for (long left = load.bytes(); left > 0; left -= groupBytes) {
            group.clear().limit((int) Math.min(groupBytes, left));
            if (channel.position() + groupBytes > FILE_BYTES) {
                beginAgain();
            }
            while (group.hasRemaining()) {
                channel.write(group);
            }
            channel.force(false);
        }
        return System.nanoTime() - begun;
    }

    /** A new file, because a journal never overwrites a segment. */
    private void beginAgain() throws IOException {
        channel.close();
        Files.delete(file);
        channel = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
    }

    @Override
    public void close() throws IOException {
        channel.close();
        Files.delete(file);
    }
}
