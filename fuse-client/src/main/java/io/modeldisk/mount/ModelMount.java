package io.modeldisk.mount;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.exchange.ExchangeCounters;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.Unmounter;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** A model that is mounted on a directory and served by threads of this process. Thread-safe. */
public final class ModelMount implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ModelMount.class);
    /** The time for which requests in progress can continue before the next process takes over the mount. */
    private static final Duration GRACEFUL = Duration.ofMillis(500);
    /** The maximum time until a new mount replies to its first request. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(10);
    private static final double GIB = 1L << 30;

    private final MountPoint mountPoint;
    private final ModelFiles files;
    private final FuseSession session;
    /** The descriptor of the mark by which {@link MountUsers} finds this process; negative if there is no mark. */
    private int mark = -1;
    private boolean closed;

    private ModelMount(MountPoint mountPoint, ModelFiles files, FuseSession session) {
        this.mountPoint = mountPoint;
        this.files = files;
        this.session = session;
    }

    /**
     * Mounts a model and waits until the file system replies to requests.
     *
     * @throws IllegalArgumentException if a value of the context is missing or invalid; the message names the value
     * @throws IOException if the mount fails, or if the memory is too small for the buffers; a failure leaves no mount
     */
    public static ModelMount launch(MountContext context) throws IOException {
        context.conclude();
        MountPoint mountPoint = MountPoint.of(context.directory);
        ensurePermission(mountPoint, context);
        ModelFiles files = new ModelFiles(context);
        ModelMount mount;
        try {
            prepare(mountPoint, context, files);
            FuseSession session = context.binding.mount(mountPoint.path(), files, context.fuseOptions());
            files.session(session);
            mount = new ModelMount(mountPoint, files, session);
        } catch (IOException | RuntimeException e) {
            files.close();
            throw e;
        }
        try {
            mountPoint.awaitAnswer(START_TIMEOUT, NanoClock.SYSTEM);
            mount.mark = MountUsers.mark(mountPoint.ensureModeldisk());
            return mount;
        } catch (IOException | RuntimeException e) {
            mount.close();
            throw e;
        }
    }

    /** Prepares the directory for a new mount, or continues the mount of the previous process. */
    private static void prepare(MountPoint mountPoint, MountContext context, ModelFiles files) throws IOException {
        Handover handover = context.handover;
        MountPoint before = handover.resumes() ? new MountPoint(handover.directory()) : mountPoint;
        boolean mounted = handover.has(Handover.DEVICE) && before.isModeldisk();
        String refusal = files.openState(mountPoint.path(), mounted
            ? null
            : "the mount was removed, or the service manager keeps too few descriptors (FileDescriptorStoreMax=)");
        if (refusal != null) {
            LOG.error(
                "this process cannot continue the mount of the previous process: {}; it mounts {} again, and processes that "
                    + "have files open get ENOTCONN",
                refusal, mountPoint.path());
            if (mounted) {
                Unmounter.ofThisUser().unmountForGood(before.path());
            }
        }
        if (handover.resumes()) {
            files.resume();
            return;
        }
        mountPoint.ensureFree();
        long bufferBytes = context.exchange.bufferBytes(context.remoteModel.trainBytes());
        requireMemory(bufferBytes, context.exchange, MemoryLimit.ofThisProcess());
    }

    /** Checks that the buffers fit into memory. Without this check, the kernel could kill the process during the training. */
    static void requireMemory(long neededBytes, ExchangeScheme exchange, MemoryLimit limit) throws IOException {
        if (!limit.allows(neededBytes)) {
            throw new IOException(
                PlainText.format("exchange %s needs %.2f GiB of memory, but this process has %s", exchange,
                    neededBytes / GIB, limit.describe())
                    + "; choose another exchange: sync needs twice the model's size, overlap four times"
                    + " the model's size, and direct no memory");
        }
    }

    private static void ensurePermission(MountPoint mountPoint, MountContext context) throws IOException {
        String cause = context.binding.unavailabilityCause();
        if (!cause.isEmpty()) {
            throw new IOException("cannot mount " + mountPoint.path() + ": " + cause);
        }
        int userId = Processes.effectiveUserId();
        if (userId != 0 && context.access.userId() != userId) {
            throw new SettingException("cannot mount " + mountPoint.path() + " for user " + context.access.userId()
                + ": only root can mount for another user, and this process runs as user " + userId);
        }
    }

    /**
     * Throws an {@link IOException} if a directory has a mount whose process has ended, for example because it was killed. All
     * accesses to such a mount fail with ENOTCONN.
     */
    public static void ensureAlive(Path directory) throws IOException {
        Path parent = directory.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            return;
        }
        MountPoint mountPoint = MountPoint.of(directory);
        if (mountPoint.isModeldisk() && mountPoint.isDead()) {
            throw new IOException("the process that served the mount on " + directory
                + " has ended; to remove the mount: modeldisk unmount " + directory);
        }
    }

    /**
     * Unmounts a directory that another process has mounted. Waits until the kernel has removed the mount and the process that
     * served it has exited. If that process has already exited, removes the mount even if files are open.
     *
     * @throws IOException if the directory is not a modeldisk mount, if a process uses the mount, or if the mount or its process
     *     still exists after {@link FuseOptions#CLOSE_TIMEOUT}
     */
    public static void unmount(Path directory) throws IOException {
        MountPoint mountPoint = MountPoint.of(directory);
        MountUsers users = new MountUsers(mountPoint.path(), mountPoint.ensureModeldisk());
        Unmounter unmounter = Unmounter.ofThisUser();
        try {
            unmounter.unmount(mountPoint.path());
        } catch (IOException e) {
            if (!mountPoint.isDead()) {
                throw e;
            }
            unmounter.unmountForGood(mountPoint.path());
        }
        users.awaitGone(FuseOptions.CLOSE_TIMEOUT, NanoClock.SYSTEM);
    }

    /** Returns the mount point, without symbolic links. */
    public Path directory() {
        return mountPoint.path();
    }

    /** Returns the contents of {@code status.json} without the status of the shards, so this method never waits for a shard. */
    public ObjectNode status() {
        return status(null);
    }

    /**
     * Returns the same as {@link #status()}, with the name of the learner for which this mount's learner waits.
     *
     * @param shards the last known status of the shards, which has an element for each shard; null if it is not known
     */
    public ObjectNode status(JsonNode shards) {
        return files.report.withoutShards(shards);
    }

    /** Returns the phases of the last iterations. */
    public IterationTrace trace() {
        return files.trace;
    }

    /**
     * Checks that the threads of the mount serve requests of the kernel, by a statfs(2) on the directory. Blocks until a thread
     * serves the statfs.
     *
     * @throws IOException if the file system does not work, for example because it was unmounted
     */
    public void check() throws IOException {
        Files.getFileStore(directory()).getTotalSpace();
    }

    /** Returns the counters of the exchange with the shards. */
    public ExchangeCounters counters() {
        return files.exchange.counters();
    }

    /** Returns a future that completes when any process has unmounted the model. The caller must still close this object. */
    public CompletableFuture<Void> unmounted() {
        return session.ended();
    }

    /**
     * Hands the mount over to the next process. Requests in progress get half a second to end, and the kernel queues new requests
     * for the next process. The caller is allowed to call this method only if the {@link Handover} of the context keeps the
     * mount, and must then exit. If the state could not be saved completely, this method logs an error, and the next process
     * continues as after a kill.
     */
    public synchronized void leave() {
        if (closed || session.ended().isDone()) {
            return;
        }
        closed = true;
        if (!session.freeze(GRACEFUL) || !files.leave()) {
            LOG.error(
                "requests of {} did not end in time, so the next process continues as if this process had been killed",
                directory());
        }
    }

    /**
     * Unmounts the model even if files are open, makes its learner leave, and frees all memory. Takes at most
     * {@link FuseOptions#CLOSE_TIMEOUT}. Does not close the remote model. A second call does nothing.
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
        Descriptors.close(mark);
    }
}
