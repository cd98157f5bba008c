package io.modeldisk.mount;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.OnRollback;
import io.modeldisk.mount.fuse.FileAccess;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.striping.RemoteModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The configuration of a {@link ModelMount}. Not thread-safe. */
public final class MountContext {
    /** The maximum time until a new mount replies to its first request. */
    public static final Duration DEFAULT_START_TIMEOUT = Duration.ofSeconds(10);

    /** The scheme {@code sync}: an fsync pushes the gradient and pulls the weights. */
    public static final ExchangeScheme DEFAULT_EXCHANGE = ExchangeScheme.SYNC;

    /** The adaptive policy: the pull completes just before the computation ends. */
    public static final PullPolicy DEFAULT_PULL = PullPolicy.ADAPTIVE;

    private static final int DATA_REQUESTS_LIMIT = 512;

    private Path directory;
    private String source = "modeldisk";
    private RemoteModel remoteModel;
    private ExchangeScheme exchange = DEFAULT_EXCHANGE;
    private boolean readOnly;
    private PullPolicy pull = DEFAULT_PULL;
    private OnRollback onRollback = OnRollback.FAIL;
    private String learner = "";
    private String datamover = "";
    private Map<String, List<TunedSize>> tuning = Map.of();
    private int workerThreads = FuseOptions.DEFAULT_WORKER_THREADS;
    private int dataRequests = FuseOptions.DEFAULT_DATA_REQUESTS;
    private Duration startTimeout = DEFAULT_START_TIMEOUT;
    private Duration closeTimeout = FuseOptions.DEFAULT_CLOSE_TIMEOUT;
    private FileAccess access = FileAccess.ofThisUser();
    private NanoClock clock = NanoClock.SYSTEM;
    private FuseBinding binding = FuseBinding.named(FuseBinding.DEFAULT);
    private Handover handover = Handover.none();

    /** Sets the mount point, which is an existing directory. Required. */
    public MountContext directory(Path value) {
        this.directory = value;
        return this;
    }

    /** Sets the source of the mount in the mount table, such as the address of the model. Default: {@code modeldisk}. */
    public MountContext source(String value) {
        this.source = value;
        return this;
    }

    /** Sets the model. Required. The caller closes the model after the mount is closed, because the mount does not close it. */
    public MountContext remoteModel(RemoteModel value) {
        this.remoteModel = value;
        return this;
    }

    /** Sets the exchange scheme. Default: {@link #DEFAULT_EXCHANGE}. */
    public MountContext exchange(ExchangeScheme value) {
        this.exchange = value;
        return this;
    }

    /**
     * Sets whether the mount only follows the model: its files cannot be changed, and it never becomes a learner. Needs the
     * direct exchange. Default: false.
     */
    public MountContext readOnly(boolean value) {
        this.readOnly = value;
        return this;
    }

    /** Sets the policy that decides when the overlap exchange pulls. Default: {@link #DEFAULT_PULL}. */
    public MountContext pull(PullPolicy value) {
        this.pull = value;
        return this;
    }

    /** Sets the text that status.json shows about the datamovers in use and the reasons for the choice. Default: empty. */
    public MountContext datamover(String value) {
        this.datamover = value;
        return this;
    }

    /** Sets the request sizes and queue depths that status.json shows for each datamover. Default: empty. */
    public MountContext tuning(Map<String, List<TunedSize>> value) {
        this.tuning = value;
        return this;
    }

    /** Sets the learner's name that status.json shows. Default: empty. */
    public MountContext learner(String value) {
        this.learner = value;
        return this;
    }

    /** Sets the number of threads that read requests. Default: {@value FuseOptions#DEFAULT_WORKER_THREADS}. */
    public MountContext workerThreads(int value) {
        this.workerThreads = value;
        return this;
    }

    /**
     * Sets the maximum number of data requests, such as reads, writes and fsyncs, that are served at the same time. Each of these
     * requests has a thread and 1 MiB of memory. The number must be above workerThreads and at most
     * {@value #DATA_REQUESTS_LIMIT}. Default: {@value FuseOptions#DEFAULT_DATA_REQUESTS}.
     */
    public MountContext dataRequests(int value) {
        this.dataRequests = value;
        return this;
    }

    /** Sets the maximum time until the mount replies to its first request. Default: {@link #DEFAULT_START_TIMEOUT}. */
    public MountContext startTimeout(Duration value) {
        this.startTimeout = value;
        return this;
    }

    /**
     * Sets the maximum time that {@link ModelMount#close} waits until requests have completed. Default:
     * {@link FuseOptions#DEFAULT_CLOSE_TIMEOUT}.
     */
    public MountContext closeTimeout(Duration value) {
        this.closeTimeout = value;
        return this;
    }

    /** Sets the owner and the permissions of the files. Default: {@link FileAccess#ofThisUser}. */
    public MountContext access(FileAccess value) {
        this.access = value;
        return this;
    }

    /** Sets the clock that measures all timeouts. Default: {@link NanoClock#SYSTEM}. */
    public MountContext clock(NanoClock value) {
        this.clock = value;
        return this;
    }

    /** Sets the implementation of FUSE. Default: {@link FuseBinding#DEFAULT}. */
    public MountContext binding(FuseBinding value) {
        this.binding = value;
        return this;
    }

    /**
     * Sets what the mount gets from the process before, and keeps for the process after it. The caller closes it after the mount.
     * Default: {@link Handover#none}.
     */
    public MountContext handover(Handover value) {
        this.handover = value;
        return this;
    }

    Handover handover() {
        return handover;
    }

    Path directory() {
        return directory;
    }

    RemoteModel remoteModel() {
        return remoteModel;
    }

    /** Sets what the learner sees after a shard has gone back to earlier weights. Default: {@link OnRollback#FAIL}. */
    public MountContext onRollback(OnRollback value) {
        this.onRollback = value;
        return this;
    }

    OnRollback onRollback() {
        return onRollback;
    }

    /** Returns the exchange scheme. */
    public ExchangeScheme exchange() {
        return exchange;
    }

    boolean isReadOnly() {
        return readOnly;
    }

    PullPolicy pull() {
        return pull;
    }

    /** Returns the text about the datamovers in use. */
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

    /** Returns the part of this configuration that the FUSE binding needs. */
    FuseOptions fuseOptions() {
        return new FuseOptions(source, workerThreads, dataRequests, closeTimeout, access,
            exchange == ExchangeScheme.DIRECT, readOnly, clock, remoteModel::allocate, handover);
    }

    /**
     * Checks every value. Returns this context.
     *
     * @throws IllegalArgumentException if a value is missing or invalid; the message names the value and its valid range
     */
    public MountContext conclude() {
        require(directory != null, "the directory of the mount is not set");
        require(source != null && !source.isEmpty(), "source=" + source + " must not be empty");
        require(remoteModel != null, "the remote model of the mount is not set");
        require(exchange != null, "the exchange scheme of the mount is not set");
        require(!readOnly || exchange == ExchangeScheme.DIRECT, "exchange=" + exchange.schemeName()
            + " is for learners: a read-only mount needs exchange=direct, because it has no gradient to push");
        require(pull != null, "the pull policy of the mount is not set");
        require(onRollback != null, "the reaction to shards that go back is not set");
        require(learner != null, "the learner's name must not be null; it may be empty");
        require(datamover != null, "the text about the datamovers must not be null; it may be empty");
        require(tuning != null, "the map of tuned sizes must not be null; it may be empty");
        require(access != null, "the owner and the permissions of the files are not set");
        require(clock != null, "the clock of the mount is not set");
        require(handover != null, "the handover of the mount is not set");
        require(binding != null, "the FUSE binding of the mount is not set");
        require(workerThreads >= 1, "workerThreads=" + workerThreads + " must be at least 1");
        require(dataRequests > workerThreads && dataRequests <= DATA_REQUESTS_LIMIT, "dataRequests=" + dataRequests
            + " must be above workerThreads=" + workerThreads + " and at most " + DATA_REQUESTS_LIMIT);
        require(startTimeout.isPositive(), "startTimeout=" + startTimeout + " must be positive");
        require(closeTimeout.isPositive(), "closeTimeout=" + closeTimeout + " must be positive");
        return this;
    }

    /** Returns the effective configuration as text. */
    @Override
    public String toString() {
        return "directory=" + directory + " readOnly=" + readOnly + " exchange=" + exchange.schemeName() + " pull="
            + pull.policyName()
            + " onRollback=" + onRollback.optionName() + " binding=" + binding.name()
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
