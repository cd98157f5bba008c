package io.modeldisk.mount;

import io.modeldisk.mount.fuse.FuseOptions;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** A directory that is to be, or is, a mount point; its path as the kernel writes it. */
final class MountPoint {
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(2);

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

    /** What is mounted here. */
    Optional<String> type() throws IOException {
        return MountTable.read().at(path).map(MountTable.Entry::type);
    }

    /** Throws if nothing can be mounted here, with the reason. */
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

    /** Throws if no modeldisk is mounted here, with what is. */
    void ensureModeldisk() throws IOException {
        Optional<String> type = type();
        if (type.isEmpty()) {
            throw new IOException(path + (Files.exists(path) ? " is not mounted" : " does not exist"));
        }
        if (!type.get().equals(FuseOptions.TYPE)) {
            throw new IOException(path + " is not a modeldisk mount, its type is " + type.get());
        }
    }

    /** Throws if the file system does not answer within the time: it is asked through the kernel, as its users will. */
    void awaitAnswer(Duration timeout) throws IOException {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        // A thread of its own: a file system that does not answer would keep the caller for ever.
        Thread.ofPlatform().name("modeldisk-mount-check").daemon().start(() -> {
            try {
                askAll();
                answer.complete(null);
            } catch (IOException | RuntimeException e) {
                answer.completeExceptionally(e);
            }
        });
        try {
            answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException(path + " was mounted but did not answer within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException | CompletionException e) {
            throw new IOException(path + " was mounted but does not answer: " + e.getCause().getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while mounting " + path, e);
        }
    }

    /** Nothing is open any more when this returns: the mount must not be busy with its own check. */
    private void askAll() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
            for (Path file : files) {
                Files.size(file);
            }
        }
        ensureModeldisk();
    }

    /** Throws if the mount is still there after this time. */
    void awaitGone(Duration timeout) throws IOException {
        long startedNs = System.nanoTime();
        while (type().filter(FuseOptions.TYPE::equals).isPresent()) {
            if (System.nanoTime() - startedNs > timeout.toNanos()) {
                throw new IOException(path + " is still mounted after " + timeout.toMillis() + " ms");
            }
            LockSupport.parkNanos(this, POLL_NS);
        }
    }
}
