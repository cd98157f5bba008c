package io.modeldisk.mount.fuse.jnr;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.MemoryFiles;
import io.modeldisk.mount.fuse.Unmounter;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** A session of libfuse 2, which creates its own threads. Owns the memory of the requests. Thread-safe. */
final class JnrSession extends FuseSession {
    private static final Logger LOG = LogManager.getLogger(JnrSession.class);
    private static final POSIX POSIX = POSIXFactory.getNativePOSIX();
    private static final Duration START_TIMEOUT = Duration.ofSeconds(10);

    private final MemoryFiles memories = MemoryFiles.links("jnr-fuse has no FUSE passthrough");
    private final DataMemory memory;
    private final JnrFileSystem fileSystem;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    private JnrSession(Path directory, FuseFileSystem files, FuseOptions options) throws IOException {
        super(directory, options, Unmounter.ofThisUser());
        this.memory = options.memory()
            .apply((long) (options.dataRequests() + JnrFileSystem.TEXT_REQUESTS) * DataRequest.MEMORY_BYTES);
        try {
            this.fileSystem = new JnrFileSystem(files, options, memories, memory);
        } catch (LinkageError e) {
            memory.close();
            throw new IOException(
                "cannot mount " + directory + ": jnr-fuse cannot load its libraries: " + e.getMessage(), e);
        }
    }

    /** Mounts a file system and serves it. */
    static JnrSession serve(Path directory, FuseFileSystem files, FuseOptions options) throws IOException {
        JnrSession session = new JnrSession(directory, files, options);
        try {
            session.start();
            return session;
        } catch (IOException | RuntimeException e) {
            session.close();
            throw e;
        }
    }

    private void start() throws IOException {
        ThreadName.JNR.builder().start(this::run);
        try {
            if (!FutureWait.isDoneWithin(CompletableFuture.anyOf(fileSystem.started(), ended), START_TIMEOUT,
                options.clock())) {
                throw new IOException("cannot mount " + directory + ": libfuse did not mount it within "
                    + START_TIMEOUT.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("mounted " + directory);
        }
        if (!fileSystem.started().isDone()) {
            throw new IOException(
                "cannot mount " + directory + ": libfuse failed and wrote the reason to standard error");
        }
    }

    /** Mounts and serves requests until the directory is unmounted. */
    private void run() {
        try {
            int result = fileSystem.run("modeldisk", "-f", directory.toString(), "-o", mountOptions());
            if (result != 0) {
                LOG.error("libfuse ended with {} for {}", result, directory);
            }
        } catch (RuntimeException | Error e) {
            LOG.error("libfuse failed for {}", directory, e);
        } finally {
            try {
                fileSystem.releaseAll();
                ended.complete(null);
            } catch (RuntimeException e) {
                ended.completeExceptionally(e);
            }
        }
    }

    /**
     * Returns the options of the mount. Without direct_io, reads would return old weights from the page cache. Without
     * big_writes, each write request would have only 4 KiB.
     */
    private String mountOptions() {
        int maxWriteBytes = options.wholeBlockWrites()
            ? JnrFileSystem.MAX_REQUEST_BYTES * 3 / 4
            : JnrFileSystem.MAX_REQUEST_BYTES;
        return options.libfuseOptions(POSIX.geteuid(), JnrFileSystem.MAX_REQUEST_BYTES)
            + ",direct_io,big_writes,nonempty,max_write=" + maxWriteBytes;
    }

    @Override
    public String memoryFiles() {
        return memories.toString();
    }

    @Override
    public CompletableFuture<Void> ended() {
        return ended.copy();
    }

    @Override
    protected void cancelAll() {
        fileSystem.cancelAll();
    }

    @Override
    protected void free() {
        memory.close();
    }
}
