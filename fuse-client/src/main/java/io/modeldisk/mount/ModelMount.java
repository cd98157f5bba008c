package io.modeldisk.mount;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.KernelBinding;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A model that is mounted over a directory, served by threads of this process. Thread-safe. */
public final class ModelMount implements AutoCloseable {
    private final MountPoint mountPoint;
    private final ModelFiles files;
    private final FuseSession session;
    private boolean closed;

    private ModelMount(MountPoint mountPoint, ModelFiles files, FuseSession session) {
        this.mountPoint = mountPoint;
        this.files = files;
        this.session = session;
    }

    /**
     * Mounts; returns when the file system answers.
     *
     * @throws IllegalArgumentException if the context is not complete, with the value that is wrong
     * @throws IOException if it cannot be mounted, or this machine has not the memory for its buffers, with the reason; nothing
     *     is left behind
     */
    public static ModelMount launch(Context context) throws IOException {
        context.conclude();
        long bufferBytes = context.exchange().bufferBytes(context.remoteModel().facts().sizeBytes());
        AvailableMemory.ofThisMachine().require(bufferBytes, "exchange " + context.exchange().schemeName());
        MountPoint mountPoint = MountPoint.of(context.directory());
        mountPoint.ensureFree();
        ModelFiles files = new ModelFiles(context);
        ModelMount mount;
        try {
            FuseOptions options = new FuseOptions(context.workerThreads(), context.maxThreads(),
                context.closeTimeoutMs(), context.remoteModel()::allocate);
            mount = new ModelMount(mountPoint, files, context.binding().mount(mountPoint.path(), files, options));
        } catch (IOException | RuntimeException e) {
            files.close();
            throw e;
        }
        try {
            mountPoint.awaitAnswer(context.startTimeoutMs());
            return mount;
        } catch (IOException | RuntimeException e) {
            mount.close();
            throw e;
        }
    }

    /**
     * Unmounts what another process has mounted here; returns when the mount is gone.
     *
     * @throws IOException if this is no modeldisk mount, if it is in use, or if it is not gone in time
     */
    public static void unmount(Path directory) throws IOException {
        MountPoint mountPoint = MountPoint.of(directory);
        mountPoint.ensureModeldisk();
        new KernelBinding().unmount(mountPoint.path());
        mountPoint.awaitGone(FuseOptions.DEFAULT_CLOSE_TIMEOUT_MS);
    }

    /** The directory, without symbolic links. */
    public Path directory() {
        return mountPoint.path();
    }

    /** The phases of the last iterations, as trace events in JSON: what {@code trace.json} in the directory shows. */
    public byte[] traceJson() {
        return files.traceJson();
    }

    /** The same, as it is noted. */
    public IterationTrace trace() {
        return files.trace();
    }

    /** Completes when the model is unmounted, by this process or another; the mount is still to be closed. */
    public CompletableFuture<Void> unmounted() {
        return session.ended();
    }

    /** Waits until the model is unmounted, by this process or another; false if that takes longer. */
    public boolean awaitUnmounted(Duration timeout) throws InterruptedException {
        try {
            unmounted().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of the mount failed", e);
        }
    }

    /**
     * Unmounts, also when files are open, stops being a learner, and gives all memory back; not the remote model, which is its
     * owner's. Bounded by the context's close timeout. Does nothing the second time.
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

    /** What to mount, where and how. Not thread-safe. */
    public static final class Context {
        /** How long the file system has to answer after it was mounted. */
        public static final long DEFAULT_START_TIMEOUT_MS = 10_000;

        /** Pushes and pulls at fsync. */
        public static final ExchangeScheme DEFAULT_EXCHANGE = ExchangeScheme.SYNC;

        /** So that the pull ends just when the computation does. */
        public static final PullPolicy DEFAULT_PULL = PullPolicy.ADAPTIVE;

        private static final int MAX_THREADS_LIMIT = 512;

        private Path directory;
        private RemoteModel remoteModel;
        private ExchangeScheme exchange = DEFAULT_EXCHANGE;
        private PullPolicy pull = DEFAULT_PULL;
        private String learner = "";
        private String datamover = "";
        private Map<String, List<TunedSize>> tuning = Map.of();
        private int workerThreads = FuseOptions.DEFAULT_WORKER_THREADS;
        private int maxThreads = FuseOptions.DEFAULT_MAX_THREADS;
        private long startTimeoutMs = DEFAULT_START_TIMEOUT_MS;
        private long closeTimeoutMs = FuseOptions.DEFAULT_CLOSE_TIMEOUT_MS;
        private FuseBinding binding = new KernelBinding();

        /** An existing directory. Required. */
        public Context directory(Path value) {
            this.directory = value;
            return this;
        }

        /** The model; stays its owner's to close, after the mount. Required. */
        public Context remoteModel(RemoteModel value) {
            this.remoteModel = value;
            return this;
        }

        /** The exchange scheme; {@link #DEFAULT_EXCHANGE}. */
        public Context exchange(ExchangeScheme value) {
            this.exchange = value;
            return this;
        }

        /** When the overlap exchange pulls; {@link #DEFAULT_PULL}. */
        public Context pull(PullPolicy value) {
            this.pull = value;
            return this;
        }

        /** How data moves to the shards and why so, in words, shown in status.json; empty. */
        public Context datamover(String value) {
            this.datamover = value;
            return this;
        }

        /** The sizes that data is cut in, by the datamovers that are used, shown in status.json; none. */
        public Context tuning(Map<String, List<TunedSize>> value) {
            this.tuning = value;
            return this;
        }

        /** The learner's name, shown in status.json; none. */
        public Context learner(String value) {
            this.learner = value;
            return this;
        }

        /** How many threads read requests; {@value FuseOptions#DEFAULT_WORKER_THREADS}. */
        public Context workerThreads(int value) {
            this.workerThreads = value;
            return this;
        }

        /** To how many they grow while requests wait, 1 MiB of memory each; {@value FuseOptions#DEFAULT_MAX_THREADS}. */
        public Context maxThreads(int value) {
            this.maxThreads = value;
            return this;
        }

        /** How long the launch waits for an answer; {@value #DEFAULT_START_TIMEOUT_MS}. */
        public Context startTimeoutMs(long value) {
            this.startTimeoutMs = value;
            return this;
        }

        /** How long {@link ModelMount#close} waits for requests to end; {@value FuseOptions#DEFAULT_CLOSE_TIMEOUT_MS}. */
        public Context closeTimeoutMs(long value) {
            this.closeTimeoutMs = value;
            return this;
        }

        /** How FUSE is spoken; {@link KernelBinding}. */
        public Context binding(FuseBinding value) {
            this.binding = value;
            return this;
        }

        /** The directory. */
        public Path directory() {
            return directory;
        }

        /** The model. */
        public RemoteModel remoteModel() {
            return remoteModel;
        }

        /** The exchange scheme. */
        public ExchangeScheme exchange() {
            return exchange;
        }

        /** When the overlap exchange pulls. */
        public PullPolicy pull() {
            return pull;
        }

        /** How data moves to the shards. */
        public String datamover() {
            return datamover;
        }

        /** The sizes that data is cut in, by datamover. */
        public Map<String, List<TunedSize>> tuning() {
            return tuning;
        }

        /** The learner's name. */
        public String learner() {
            return learner;
        }

        /** How many threads read requests. */
        public int workerThreads() {
            return workerThreads;
        }

        /** To how many they grow. */
        public int maxThreads() {
            return maxThreads;
        }

        /** How long the launch waits. */
        public long startTimeoutMs() {
            return startTimeoutMs;
        }

        /** How long closing waits. */
        public long closeTimeoutMs() {
            return closeTimeoutMs;
        }

        /** How FUSE is spoken. */
        public FuseBinding binding() {
            return binding;
        }

        /**
         * Checks every value.
         *
         * @throws IllegalArgumentException that names the value, and what would be right
         */
        public Context conclude() {
            require(directory != null, "directory is not set");
            require(remoteModel != null, "remoteModel is not set");
            require(exchange != null, "exchange is not set");
            require(pull != null, "pull is not set");
            require(learner != null, "learner is null; empty is none");
            require(datamover != null, "datamover is null; empty is unknown");
            require(tuning != null, "tuning is null; empty is unknown");
            require(binding != null, "binding is not set");
            require(workerThreads >= 1, "workerThreads=" + workerThreads + " must be at least 1");
            require(maxThreads > workerThreads && maxThreads <= MAX_THREADS_LIMIT, "maxThreads=" + maxThreads
                + " must be above workerThreads=" + workerThreads + " and at most " + MAX_THREADS_LIMIT);
            require(startTimeoutMs > 0, "startTimeoutMs=" + startTimeoutMs + " must be positive");
            require(closeTimeoutMs > 0, "closeTimeoutMs=" + closeTimeoutMs + " must be positive");
            return this;
        }

        /** The effective configuration. */
        @Override
        public String toString() {
            return "directory=" + directory + " exchange=" + exchange.schemeName() + " pull=" + pull.policyName()
                + " learner=" + learner
                + " datamover=" + datamover + " tuning=" + tuning
                + " workerThreads=" + workerThreads + " maxThreads=" + maxThreads + " startTimeoutMs=" + startTimeoutMs
                + " closeTimeoutMs=" + closeTimeoutMs;
        }

        private static void require(boolean condition, String message) {
            if (!condition) {
                throw new IllegalArgumentException(message);
            }
        }
    }
}
