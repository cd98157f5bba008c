package io.modeldisk.fault.coordination;

import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.files.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** The directory with the state of a {@link Coordinator}. A lock prevents two coordinators from using the same directory. */
final class CoordinatorDirectory implements AutoCloseable {
    private static final String LOCK = "coordinator.lock";

    private final Path path;
    private final FileChannel lock;

    private CoordinatorDirectory(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Opens the directory. Creates the directory if it does not exist.
     *
     * @throws IOException if the directory cannot be used; the message has the reason
     */
    static CoordinatorDirectory open(Path path) throws IOException {
        try {
            DurableFiles.createDirectories(path);
        } catch (FileAlreadyExistsException e) {
            throw new IOException("--state " + path + " is not a directory", e);
        } catch (IOException e) {
            throw new IOException("cannot create the directory --state " + path + ": " + e, e);
        }
        checkOwner(path);
        FileChannel channel;
        try {
            channel = PrivateFiles.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IOException("cannot write to the directory --state " + path + ": " + e, e);
        }
        try {
            if (tryLock(channel) != null) {
                return new CoordinatorDirectory(path, channel);
            }
        } catch (IOException e) {
            channel.close();
            throw new IOException("cannot lock the directory --state " + path + ": " + e, e);
        }
        channel.close();
        throw new IOException("another coordinator uses the directory --state " + path + "; give another directory");
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    /** Refuses a directory that has files but no state of a coordinator. */
    private static void checkOwner(Path path) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(path)) {
            files = all.toList();
        } catch (IOException e) {
            throw new IOException("cannot read the directory --state " + path + ": " + e, e);
        }
        if (!files.isEmpty() && !Files.exists(path.resolve(LOCK))) {
            throw new IOException("the directory --state " + path + " holds other files, such as "
                + files.getFirst().getFileName() + ", but no state of a coordinator; give an empty directory");
        }
    }

    Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw new IllegalStateException("cannot unlock the directory " + path, e);
        }
    }
}
