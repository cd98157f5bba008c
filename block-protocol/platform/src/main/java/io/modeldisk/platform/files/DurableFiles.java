package io.modeldisk.platform.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Makes changes to files and directories that survive a power failure. A new or renamed file survives only after both the file
 * and its directory have been synchronized (fsync(2)). Other users cannot read the created files and directories. Thread-safe.
 */
public final class DurableFiles {
    private DurableFiles() {}

    /** Creates a directory and its missing parents, and writes the entries of the new directories to disk. */
    public static void createDirectories(Path directory) throws IOException {
        Path parent = directory.toAbsolutePath().getParent();
        if (Files.isDirectory(directory) || parent == null) {
            return;
        }
        createDirectories(parent);
        Files.createDirectories(directory, PrivateFiles.DIRECTORY);
        sync(parent);
    }

    /** Writes the entries of a directory to disk, so the name of a new file survives a power failure. */
    public static void sync(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Writes a file, which gets its name only after its contents are on disk. {@link #sync} writes the name to disk. */
    public static void write(Path file, byte[] contents) throws IOException {
        // The name begins with a dot, so no process mistakes the unfinished file for a finished file.
        Path building = file.resolveSibling("." + file.getFileName() + "." + Long.toHexString(
            ThreadLocalRandom.current().nextLong()));
        try (FileChannel channel = PrivateFiles.open(building, StandardOpenOption.WRITE,
            StandardOpenOption.CREATE_NEW)) {
            ByteBuffer left = ByteBuffer.wrap(contents);
            while (left.hasRemaining()) {
                channel.write(left);
            }
            channel.force(true);
        } catch (IOException e) {
            Files.deleteIfExists(building);
            throw e;
        }
        Files.move(building, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
