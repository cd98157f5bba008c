package io.modeldisk.mount;

import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.Unmounter;
import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** A directory that is or will be a mount point. Its path is absolute and without symbolic links, as in the mount table. */
record MountPoint(Path path) {
    private static final Logger LOG = LogManager.getLogger(MountPoint.class);
    /** The time limit of the check whether a process serves the mount. If no process does, the kernel replies at once. */
    private static final Duration DEAD_TIMEOUT = Duration.ofSeconds(2);
    /** The kernel's limit on symbolic links in a path. */
    private static final int MAX_LINKS = 40;

    /**
     * Resolves the symbolic links of a path. Does not access a directory on which a model is mounted, because the access would
     * fail if the process that served the mount has died, and would block until the next process serves the mount.
     *
     * @throws IOException if the parent directory does not exist, or if the path is a loop of symbolic links
     */
    static MountPoint of(Path directory) throws IOException {
        return of(directory, MAX_LINKS);
    }

    private static MountPoint of(Path directory, int links) throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        if (absolute.getParent() == null) {
            return new MountPoint(absolute);
        }
        if (!Files.isDirectory(absolute.getParent())) {
            throw new SettingException(directory + " does not exist: its parent directory is missing");
        }
        MountPoint point = new MountPoint(absolute.getParent().toRealPath().resolve(absolute.getFileName()));
        // A mount point is never a symbolic link.
        if (point.type().isPresent() || !Files.isSymbolicLink(point.path())) {
            return point;
        }
        if (links == 0) {
            throw new IOException(directory + " is in a loop of symbolic links; give the directory itself");
        }
        return of(point.path().resolveSibling(Files.readSymbolicLink(point.path())), links - 1);
    }

    /** Returns whether a modeldisk file system is mounted on this directory. */
    boolean isModeldisk() throws IOException {
        return type().filter(FuseOptions.TYPE::equals).isPresent();
    }

    /** Returns the type of the file system that is mounted on this directory, or empty if the directory is not a mount point. */
    Optional<String> type() throws IOException {
        return MountTable.read().at(path).map(MountTable.Entry::type);
    }

    /**
     * Checks that this directory exists and is not yet a mount point. Removes the mount of a process that was killed, because no
     * process can use it any more.
     */
    void ensureFree() throws IOException {
        if (isModeldisk() && isDead()) {
            LOG.warn("{} was mounted by a process that was killed; that mount is removed", path);
            Unmounter.ofThisUser().unmountForGood(path);
        }
        Optional<String> type = type();
        if (type.isPresent()) {
            String what = path + " is already a mount point of type " + type.get();
            throw new IOException(
                type.get().equals(FuseOptions.TYPE) ? what + "; to unmount it: modeldisk unmount " + path : what);
        }
        if (!Files.exists(path)) {
            throw new SettingException(path + " does not exist; create the directory first: mkdir " + path);
        }
        if (!Files.isDirectory(path)) {
            throw new SettingException(path + " is not a directory");
        }
    }

    /** Returns whether no process serves the file system on this directory. */
    boolean isDead() throws IOException {
        CompletableFuture<Boolean> dead = new CompletableFuture<>();
        // Another thread opens the directory, because the open blocks if the process that serves the mount hangs.
        ThreadName.MOUNT_CHECK.builder().start(() -> {
            int descriptor = Descriptors.open(path.toString(), Descriptors.O_CLOEXEC);
            if (descriptor >= 0) {
                Descriptors.close(descriptor);
            }
            dead.complete(Errno.ENOTCONN.is(descriptor));
        });
        try {
            return FutureWait.isDoneWithin(dead, DEAD_TIMEOUT, NanoClock.SYSTEM) && dead.join();
        } catch (InterruptedException e) {
            throw Interruption.whileIt("checked the mount on " + path);
        }
    }

    /**
     * Checks that a modeldisk file system is mounted on this directory. Returns the number of the file system in mount tables,
     * such as {@code 0:42}.
     */
    String ensureModeldisk() throws IOException {
        Optional<MountTable.Entry> mount = MountTable.read().at(path);
        Optional<String> type = mount.map(MountTable.Entry::type);
        if (type.isEmpty()) {
            throw new IOException(path + (Files.exists(path) ? " is not mounted" : " does not exist"));
        }
        if (!type.get().equals(FuseOptions.TYPE)) {
            throw new IOException(path + " is not a modeldisk mount: its type is " + type.get());
        }
        return mount.get().device();
    }

    /** Reads the directory through the kernel. Throws an exception if the file system does not reply within the timeout. */
    void awaitAnswer(Duration timeout, NanoClock clock) throws IOException {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        // Reads in another thread, because a file system that does not reply blocks the reading thread.
        ThreadName.MOUNT_CHECK.builder().start(() -> {
            try {
                askAll();
                answer.complete(null);
            } catch (IOException | RuntimeException e) {
                answer.completeExceptionally(e);
            }
        });
        try {
            if (!FutureWait.isDoneWithin(answer, timeout, clock)) {
                throw new IOException(path + " was mounted, but did not reply within " + timeout.toMillis() + " ms");
            }
            answer.join();
        } catch (CompletionException e) {
            throw new IOException(path + " was mounted, but cannot be read: " + e.getCause().getMessage(), e);
        } catch (InterruptedException e) {
            throw Interruption.whileIt("mounted " + path);
        }
    }

    /** Reads the directory and the size of each file. Opens no file, because an open file would prevent an unmount. */
    private void askAll() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
            for (Path file : files) {
                Files.size(file);
            }
        }
        ensureModeldisk();
    }
}
