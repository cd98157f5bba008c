package io.modeldisk.mount;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.fuse.FileAccess;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.KernelBinding;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.striping.RemoteModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The configuration of a {@link ModelMount}. Not thread-safe. */
public final class MountContext {
    /** How long a new mount may take to answer its first request. */
    public static final Duration DEFAULT_START_TIMEOUT = Duration.ofSeconds(10);

    /** An fsync pushes the gradient and pulls the weights. */
    public static final ExchangeScheme DEFAULT_EXCHANGE = ExchangeScheme.SYNC;

    /** The pull ends just when the computation does. */
    public static final PullPolicy DEFAULT_PULL = PullPolicy.ADAPTIVE;

    private static final int DATA_REQUESTS_LIMIT = 512;

    private Path directory;
    private RemoteModel remoteModel;
    private ExchangeScheme exchange = DEFAULT_EXCHANGE;
    private PullPolicy pull = DEFAULT_PULL;
    private String learner = "";
    private String datamover = "";
    private Map<String, List<TunedSize>> tuning = Map.of();
    private int workerThreads = FuseOptions.DEFAULT_WORKER_THREADS;
    private int dataRequests = FuseOptions.DEFAULT_DATA_REQUESTS;
    private Duration startTimeout = DEFAULT_START_TIMEOUT;
    private Duration closeTimeout = FuseOptions.DEFAULT_CLOSE_TIMEOUT;
    private FileAccess access = FileAccess.ofThisUser();
    private NanoClock clock = NanoClock.SYSTEM;
    private FuseBinding binding = new KernelBinding();

    /** The mount point: an existing directory. Required. */
    public MountContext directory(Path value) {
        this.directory = value;
        return this;
    }

    /** The model. The mount does not close it; its owner does, after the mount. Required. */
    public MountContext remoteModel(RemoteModel value) {
        this.remoteModel = value;
        return this;
    }

    /** The exchange scheme. Default: {@link #DEFAULT_EXCHANGE}. */
    public MountContext exchange(ExchangeScheme value) {
        this.exchange = value;
        return this;
    }

    /** When the overlap exchange pulls. Default: {@link #DEFAULT_PULL}. */
    public MountContext pull(PullPolicy value) {
        this.pull = value;
        return this;
    }

    /** The datamovers in use and the reasons for the choice, shown in status.json. Default: empty. */
    public MountContext datamover(String value) {
        this.datamover = value;
        return this;
    }

    /** The request sizes and queue depths in use, by datamover, shown in status.json. Default: empty. */
    public MountContext tuning(Map<String, List<TunedSize>> value) {
        this.tuning = value;
        return this;
    }

    /** The learner's name, shown in status.json. Default: empty. */
    public MountContext learner(String value) {
        this.learner = value;
        return this;
    }

    /** The number of threads that read requests. Default: {@value FuseOptions#DEFAULT_WORKER_THREADS}. */
    public MountContext workerThreads(int value) {
        this.workerThreads = value;
        return this;
    }

    /**
     * The number of requests for data that are served at once, each with a thread and 1 MiB of memory; more than
     * workerThreads, at most {@value #DATA_REQUESTS_LIMIT}. Default: {@value FuseOptions#DEFAULT_DATA_REQUESTS}.
     */
    public MountContext dataRequests(int value) {
        this.dataRequests = value;
        return this;
    }

    /** How long the launch waits for the first answer of the mount. Default: {@link #DEFAULT_START_TIMEOUT}. */
    public MountContext startTimeout(Duration value) {
        this.startTimeout = value;
        return this;
    }

    /** How long {@link ModelMount#close} waits for requests to end. Default: {@link FuseOptions#DEFAULT_CLOSE_TIMEOUT}. */
    public MountContext closeTimeout(Duration value) {
        this.closeTimeout = value;
        return this;
    }

    /** Owner and permissions of the files. Default: {@link FileAccess#ofThisUser}. */
    public MountContext access(FileAccess value) {
        this.access = value;
        return this;
    }

    /** The clock of all time-outs. Default: {@link NanoClock#SYSTEM}. */
    public MountContext clock(NanoClock value) {
        this.clock = value;
        return this;
    }

    /** The implementation of FUSE. Default: {@link KernelBinding}. */
    public MountContext binding(FuseBinding value) {
        this.binding = value;
        return this;
    }

    Path directory() {
        return directory;
    }

    RemoteModel remoteModel() {
        return remoteModel;
    }

    /** The exchange scheme. */
    public ExchangeScheme exchange() {
        return exchange;
    }

    PullPolicy pull() {
        return pull;
    }

    /** The datamovers in use. */
    public String datamover() {
        return datamover;
    }

    Map<String, List<TunedSize>> tuning() {
        return tuning;
    }

    String learner() {
        return learner;
    }

    FileAccess access() {
        return access;
    }

    Duration startTimeout() {
        return startTimeout;
    }

    NanoClock clock() {
        return clock;
    }

    FuseBinding binding() {
        return binding;
    }

    /** What the binding needs of this configuration. */
    FuseOptions fuseOptions() {
        return new FuseOptions(workerThreads, dataRequests, closeTimeout, access,
            exchange == ExchangeScheme.DIRECT, clock, remoteModel::allocate);
    }

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException that names the value and its valid range
     */
    public MountContext conclude() {
        require(directory != null, "directory is not set");
        require(remoteModel != null, "remoteModel is not set");
        require(exchange != null, "exchange is not set");
        require(pull != null, "pull is not set");
        require(learner != null, "learner must not be null");
        require(datamover != null, "datamover must not be null");
        require(tuning != null, "tuning must not be null");
        require(access != null, "access is not set");
        require(clock != null, "clock is not set");
        require(binding != null, "binding is not set");
        require(workerThreads >= 1, "workerThreads=" + workerThreads + " must be at least 1");
        require(dataRequests > workerThreads && dataRequests <= DATA_REQUESTS_LIMIT, "dataRequests=" + dataRequests
            + " must be above workerThreads=" + workerThreads + " and at most " + DATA_REQUESTS_LIMIT);
        require(startTimeout.isPositive(), "startTimeout=" + startTimeout + " must be positive");
        require(closeTimeout.isPositive(), "closeTimeout=" + closeTimeout + " must be positive");
        return this;
    }

    /** The effective configuration. */
    @Override
    public String toString() {
        return "directory=" + directory + " exchange=" + exchange.schemeName() + " pull=" + pull.policyName()
            + " learner=" + learner + " datamover=" + datamover + " tuning=" + tuning + " workerThreads="
            + workerThreads
            + " dataRequests=" + dataRequests + " startTimeout=" + startTimeout + " closeTimeout=" + closeTimeout
            + " access=" + access;
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
