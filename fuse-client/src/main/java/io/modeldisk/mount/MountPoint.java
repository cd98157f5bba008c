package io.modeldisk.mount;

import io.modeldisk.mount.fuse.FuseOptions;
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
import java.util.concurrent.TimeUnit;

/** A directory that is, or will be, a mount point, by the path that the kernel shows. */
final class MountPoint {
    private static final long POLL_MS = 2;

    private final Path path;

    private MountPoint(Path path) {
        this.path = path;
    }

    /**
     * Resolves links, but never asks the last element itself: behind it may be a file system whose process has died.
     *
     * @throws IOException if the directory above does not exist
     */
    static MountPoint of(Path directory) throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        if (Files.isSymbolicLink(absolute)) {
            return new MountPoint(absolute.toRealPath());
        }
        if (absolute.getParent() == null) {
            return new MountPoint(absolute);
        }
        if (!Files.isDirectory(absolute.getParent())) {
            throw new IOException(directory + " does not exist");
        }
        return new MountPoint(absolute.getParent().toRealPath().resolve(absolute.getFileName()));
    }

    Path path() {
        return path;
    }

    /** The type of the file system that is mounted here; empty if none is. */
    Optional<String> type() throws IOException {
        return MountTable.read().at(path).map(MountTable.Entry::type);
    }

    /** Throws, with the reason, if nothing can be mounted here. */
    void ensureFree() throws IOException {
        Optional<String> type = type();
        if (type.isPresent()) {
            String what = path + " is already a mount point of type " + type.get();
            throw new IOException(
                type.get().equals(FuseOptions.TYPE) ? what + "; modeldisk unmount " + path + " ends it" : what);
        }
        if (!Files.exists(path)) {
            throw new IOException(path + " does not exist; make the directory first: mkdir " + path);
        }
        if (!Files.isDirectory(path)) {
            throw new IOException(path + " is not a directory");
        }
    }

    /** Throws if no modeldisk is mounted here. */
    void ensureModeldisk() throws IOException {
        Optional<String> type = type();
        if (type.isEmpty()) {
            throw new IOException(path + (Files.exists(path) ? " is not mounted" : " does not exist"));
        }
        if (!type.get().equals(FuseOptions.TYPE)) {
            throw new IOException(path + " is not a modeldisk mount, its type is " + type.get());
        }
    }

    /** Reads the directory through the kernel, as users will; throws if the file system does not answer in time. */
    void awaitAnswer(Duration timeout, NanoClock clock) throws IOException {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        // In another thread, because a file system that does not answer blocks the thread that asks.
        Thread.ofPlatform().name("modeldisk-mount-check").daemon().start(() -> {
            try {
                askAll();
                answer.complete(null);
            } catch (IOException | RuntimeException e) {
                answer.completeExceptionally(e);
            }
        });
        try {
            if (!FutureWait.isDoneWithin(answer, timeout, clock)) {
                throw new IOException(path + " was mounted but did not answer within " + timeout.toMillis() + " ms");
            }
            answer.join();
        } catch (CompletionException e) {
            throw new IOException(path + " was mounted but does not answer: " + e.getCause().getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while mounting " + path, e);
        }
    }

    /** Leaves nothing open: an open file would keep the mount busy. */
    private void askAll() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
            for (Path file : files) {
                Files.size(file);
            }
        }
        ensureModeldisk();
    }

    /** Throws if the mount is still there after this time. Polls the mount table, which wakes no Java thread. */
    void awaitGone(Duration timeout, NanoClock clock) throws IOException {
        long deadlineNs = clock.nanoTime() + timeout.toNanos();
        try {
            while (type().filter(FuseOptions.TYPE::equals).isPresent()) {
                if (clock.nanoTime() - deadlineNs > 0) {
                    throw new IOException(path + " is still mounted after " + timeout.toMillis() + " ms");
                }
                clock.sleep(POLL_MS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while unmounting " + path, e);
        }
    }
}
