package io.modeldisk.protocol.striping;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;

/** The configuration of a connection to a model. */
public final class StripedModelContext {
    /** The default time that a pull or push waits for other learners' rounds before it fails. */
    public static final Duration DEFAULT_WAIT_TIMEOUT = Duration.ofMinutes(10);

    /** The default time that a call tries to reach a lost shard again: twice the default lease of a shard. */
    public static final Duration DEFAULT_RECONNECT_TIMEOUT = Duration.ofSeconds(10);

    /** The default for the maximum number of calls in progress. A further call waits. */
    public static final int DEFAULT_CONCURRENT_CALLS = 64;

    private static final String LABEL_FORM = "[A-Za-z0-9.:-]{0,47}[A-Za-z0-9:-]";

    private final ShardLocator locator;
    private String learner = "learner";
    private boolean follower;
    private ChapSecrets secrets;
    private Function<String, TransferSizes> sizes = _ -> TransferSizes.DEFAULTS;
    private int concurrentCalls = DEFAULT_CONCURRENT_CALLS;
    private Duration connectTimeout = SessionContext.DEFAULT_CONNECT_TIMEOUT;
    private Duration commandTimeout = SessionContext.DEFAULT_COMMAND_TIMEOUT;
    private Duration waitTimeout = DEFAULT_WAIT_TIMEOUT;
    private Duration reconnectTimeout = DEFAULT_RECONNECT_TIMEOUT;
    private Digest digest = Digest.NONE;
    private ValueType dtype = ValueType.FLOAT32;
    private Route.Preference datamover = Route.Preference.TCP;
    private Path socketDirectory = SocketPath.defaultDirectory();
    private NanoClock clock = NanoClock.SYSTEM;
    private final IserProvider.Connections iserConnections = IserProvider.find().connections();

    /** Creates the configuration of a connection to the model whose shards this object locates. The caller closes the object. */
    public StripedModelContext(ShardLocator locator) {
        this.locator = locator;
    }

    /**
     * Sets the label of the learner: 1 to 48 letters, digits, dots, colons or hyphens, without a dot at the end. Two processes
     * with the same label cannot be learners at the same time.
     */
    public StripedModelContext learner(String label) {
        this.learner = label;
        return this;
    }

    /** Sets whether this process only follows the model, as the status of the shards shows it; false by default. */
    public StripedModelContext follower(boolean only) {
        this.follower = only;
        return this;
    }

    /** Sets the names and secrets for CHAP. Without secrets (null, the default), no session authenticates. */
    public StripedModelContext secrets(ChapSecrets known) {
        this.secrets = known;
        return this;
    }

    /** Sets the sizes of transfers, as a function of the datamover's name. */
    public StripedModelContext sizes(Function<String, TransferSizes> ofDatamover) {
        this.sizes = ofDatamover;
        return this;
    }

    /** Sets the maximum number of calls in progress; 64 by default. */
    public StripedModelContext concurrentCalls(int calls) {
        this.concurrentCalls = calls;
        return this;
    }

    /** Sets the time limit for the connection and the login to a shard; 5 s by default. */
    public StripedModelContext connectTimeout(Duration timeout) {
        this.connectTimeout = timeout;
        return this;
    }

    /** Sets the time limit for the response to a command, after which the session is closed as lost; 30 s by default. */
    public StripedModelContext commandTimeout(Duration timeout) {
        this.commandTimeout = timeout;
        return this;
    }

    /** Sets the time that a pull or push waits for other learners' rounds; 10 min by default. */
    public StripedModelContext waitTimeout(Duration timeout) {
        this.waitTimeout = timeout;
        return this;
    }

    /** Sets the time that a call tries to reach a lost shard again; 10 s by default. If the time is 0, the call tries once. */
    public StripedModelContext reconnectTimeout(Duration timeout) {
        this.reconnectTimeout = timeout;
        return this;
    }

    /** Sets the type of the weights that are pulled and of the gradients that are pushed; float32 by default. */
    public StripedModelContext dtype(ValueType type) {
        this.dtype = type;
        return this;
    }

    /** Sets the digests that protect headers and data; none by default. */
    public StripedModelContext digest(Digest each) {
        this.digest = each;
        return this;
    }

    /** Sets the preferred datamover; TCP by default. */
    public StripedModelContext datamover(Route.Preference preference) {
        this.datamover = preference;
        return this;
    }

    /** Sets the directory of the sockets over which shards on this host offer shared memory. */
    public StripedModelContext socketDirectory(Path directory) {
        this.socketDirectory = directory;
        return this;
    }

    /** Sets the clock for all timeouts. */
    public StripedModelContext clock(NanoClock source) {
        this.clock = source;
        return this;
    }

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException if a value is invalid; the message names the value and its valid range
     */
    public StripedModelContext conclude() {
        require(locator != null, "the address of the model is not set");
        require(learner.matches(LABEL_FORM),
            "learner '" + learner
                + "' must be 1 to 48 letters, digits, dots, colons or hyphens, without a dot at the end");
        require(concurrentCalls >= 1, "concurrentCalls=" + concurrentCalls + " must be at least 1");
        require(connectTimeout.isPositive(), "connectTimeout=" + connectTimeout + " must be positive");
        require(commandTimeout.isPositive(), "commandTimeout=" + commandTimeout + " must be positive");
        require(waitTimeout.isPositive(), "waitTimeout=" + waitTimeout + " must be positive");
        require(!reconnectTimeout.isNegative(), "reconnectTimeout=" + reconnectTimeout + " must not be negative");
        return this;
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    /** Returns the effective configuration as text. */
    @Override
    public String toString() {
        return "address=" + locator + " learner=" + learner + " follower=" + follower + " secrets="
            + (secrets == null ? "none" : "set")
            + " concurrentCalls=" + concurrentCalls + " connectTimeout=" + connectTimeout + " commandTimeout="
            + commandTimeout + " waitTimeout=" + waitTimeout + " reconnectTimeout=" + reconnectTimeout + " digest="
            + digest + " dtype=" + dtype + " datamover=" + datamover + " socketDirectory=" + socketDirectory;
    }

    /** Returns the configuration of a session with a shard. The caller must still set the initiator and the learner. */
    SessionContext session(int shard, InetSocketAddress portal, Route route) {
        TransferSizes cut = sizes(route.portal().datamover());
        return new SessionContext()
            .portal(portal)
            .shard(shard)
            .over(route.portal())
            .targetName(ModelFacts.TARGET_PREFIX + model())
            .secrets(secrets)
            .queueDepth(cut.queueDepth())
            .eagerBytes(cut.eagerBytes())
            .digests(digest, digest)
            .connectTimeout(connectTimeout)
            .commandTimeout(commandTimeout)
            .clock(clock);
    }

    ShardLocator locator() {
        return locator;
    }

    String model() {
        return locator.model();
    }

    String learner() {
        return learner;
    }

    /** Returns the label of the sessions that do not belong to a learner. */
    String observer() {
        return learner + (follower ? AwaitCommand.FOLLOWER_SUFFIX : "(mount)");
    }

    String initiatorName() {
        return "iqn.2026-11.io.modeldisk.learner:" + learner.toLowerCase(Locale.ROOT);
    }

    TransferSizes sizes(String datamoverName) {
        return sizes.apply(datamoverName);
    }

    int concurrentCalls() {
        return concurrentCalls;
    }

    long commandTimeoutNs() {
        return commandTimeout.toNanos();
    }

    long waitTimeoutNs() {
        return waitTimeout.toNanos();
    }

    long reconnectTimeoutNs() {
        return reconnectTimeout.toNanos();
    }

    ValueType dtype() {
        return dtype;
    }

    Digest digest() {
        return digest;
    }

    Route.Preference datamover() {
        return datamover;
    }

    Path socketDirectory() {
        return socketDirectory;
    }

    IserProvider.Connections iserConnections() {
        return iserConnections;
    }

    NanoClock clock() {
        return clock;
    }
}
