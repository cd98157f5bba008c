package io.modeldisk.mount;

import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.KernelBinding;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A model mounted on a directory, and served by threads of this process. Thread-safe. */
public final class ModelMount implements AutoCloseable {
    private final MountPoint mountPoint;
    private final ModelFiles files;
    private final FuseSession session;
    private final NanoClock clock;
    private boolean closed;

    private ModelMount(MountPoint mountPoint, ModelFiles files, FuseSession session, NanoClock clock) {
        this.clock = clock;
        this.mountPoint = mountPoint;
        this.files = files;
        this.session = session;
    }

    /**
     * Mounts; returns when the file system answers.
     *
     * @throws IllegalArgumentException if a value of the context is missing or wrong; the message names it
     * @throws IOException if the directory cannot be mounted, or the memory for the buffers is missing; nothing is left behind
     */
    public static ModelMount launch(MountContext context) throws IOException {
        context.conclude();
        long bufferBytes = context.exchange().bufferBytes(context.remoteModel().facts().sizeBytes());
        BufferMemory.require(bufferBytes, context.exchange().schemeName(), MemoryLimit.ofThisProcess());
        MountPoint mountPoint = MountPoint.of(context.directory());
        mountPoint.ensureFree();
        ModelFiles files = new ModelFiles(context);
        ModelMount mount;
        try {
            mount = new ModelMount(mountPoint, files,
                context.binding().mount(mountPoint.path(), files, context.fuseOptions()), context.clock());
        } catch (IOException | RuntimeException e) {
            files.close();
            throw e;
        }
        try {
            mountPoint.awaitAnswer(context.startTimeout(), context.clock());
            return mount;
        } catch (IOException | RuntimeException e) {
            mount.close();
            throw e;
        }
    }

    /**
     * Unmounts a directory that another process has mounted; returns when the mount is gone.
     *
     * @throws IOException if it is not a modeldisk mount, if it is in use, or if it is not gone in time
     */
    public static void unmount(Path directory) throws IOException {
        MountPoint mountPoint = MountPoint.of(directory);
        mountPoint.ensureModeldisk();
        new KernelBinding().unmount(mountPoint.path());
        mountPoint.awaitGone(FuseOptions.DEFAULT_CLOSE_TIMEOUT, NanoClock.SYSTEM);
    }

    /** The directory, without symbolic links. */
    public Path directory() {
        return mountPoint.path();
    }

    /** The phases of the last iterations as trace events in JSON: the contents of {@code trace.json}. */
    public byte[] traceJson() {
        return files.traceJson();
    }

    /** The phases of the last iterations. */
    public IterationTrace trace() {
        return files.trace();
    }

    /** Completes when the model is unmounted, by this process or another. The mount must still be closed. */
    public CompletableFuture<Void> unmounted() {
        return session.ended();
    }

    /** Waits until the model is unmounted, by this process or another; false if that takes longer. */
    public boolean awaitUnmounted(Duration timeout) throws InterruptedException {
        return FutureWait.isDoneWithin(session.ended(), timeout, clock);
    }

    /**
     * Unmounts even if files are open, leaves the rounds, and frees all memory, within the context's close timeout. The remote
     * model stays open for its owner. A second call does nothing.
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        session.close();
        if (session.ended().isDone()) {
            files.close();
        }
    }
}
