package io.modeldisk.protocol.striping;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;

/** The configuration of a connection to a model. */
public final class StripedModelContext {
    /** How long a pull or push waits for other learners' rounds before it fails. */
    public static final Duration DEFAULT_WAIT_TIMEOUT = Duration.ofMinutes(10);

    /** How long a call tries to reach a lost shard again: twice the default lease of a shard. */
    public static final Duration DEFAULT_RECONNECT_TIMEOUT = Duration.ofSeconds(10);

    /** How many calls may be in progress at once; a further one waits. */
    public static final int DEFAULT_CONCURRENT_CALLS = 64;

    private static final String LABEL_FORM = "[A-Za-z0-9.:-]{1,48}";

    private final ModelAddress address;
    private String learner = "learner";
    private ChapSecrets secrets;
    private Function<String, TransferSizes> sizes = _ -> TransferSizes.DEFAULTS;
    private int concurrentCalls = DEFAULT_CONCURRENT_CALLS;
    private Duration connectTimeout = SessionContext.DEFAULT_CONNECT_TIMEOUT;
    private Duration commandTimeout = SessionContext.DEFAULT_COMMAND_TIMEOUT;
    private Duration waitTimeout = DEFAULT_WAIT_TIMEOUT;
    private Duration reconnectTimeout = DEFAULT_RECONNECT_TIMEOUT;
    private Digest digest = Digest.NONE;
    private Route.Preference datamover = Route.Preference.TCP;
    private Path socketDirectory = SocketPath.defaultDirectory();
    private NanoClock clock = NanoClock.SYSTEM;
    private final IserProvider.Connections iserConnections = IserProvider.find().connections();

    /** A connection to the model at this address. */
    public StripedModelContext(ModelAddress address) {
        this.address = address;
    }

    /** Sets the label of the learner: 1 to 48 letters, digits, dots, colons or hyphens. The same label is the same learner. */
    public StripedModelContext learner(String label) {
        this.learner = label;
        return this;
    }

    /** Sets the names and secrets of CHAP to log in with; with null, the default, no session authenticates. */
    public StripedModelContext secrets(ChapSecrets known) {
        this.secrets = known;
        return this;
    }

    /** Sets how transfers are cut, for each datamover by its name. */
    public StripedModelContext sizes(Function<String, TransferSizes> ofDatamover) {
        this.sizes = ofDatamover;
        return this;
    }

    /** Sets how many calls may be in progress at once; 64 by default. */
    public StripedModelContext concurrentCalls(int calls) {
        this.concurrentCalls = calls;
        return this;
    }

    /** Sets how long connecting and logging in to a shard may take; 5 s by default. */
    public StripedModelContext connectTimeout(Duration timeout) {
        this.connectTimeout = timeout;
        return this;
    }

    /** Sets how long a shard may leave a command unanswered before its session is given up as lost; 30 s by default. */
    public StripedModelContext commandTimeout(Duration timeout) {
        this.commandTimeout = timeout;
        return this;
    }

    /** Sets how long a pull or push waits for other learners' rounds; 10 min by default. */
    public StripedModelContext waitTimeout(Duration timeout) {
        this.waitTimeout = timeout;
        return this;
    }

    /** Sets how long a call tries to reach a lost shard again; 10 s by default, 0 lets it fail at once. */
    public StripedModelContext reconnectTimeout(Duration timeout) {
        this.reconnectTimeout = timeout;
        return this;
    }

    /** Sets the digests that protect headers and data; none by default. */
    public StripedModelContext digest(Digest each) {
        this.digest = each;
        return this;
    }

    /** Sets which datamover is preferred; TCP by default. */
    public StripedModelContext datamover(Route.Preference preference) {
        this.datamover = preference;
        return this;
    }

    /** Sets the directory of the sockets of shards on this host that share memory. */
    public StripedModelContext socketDirectory(Path directory) {
        this.socketDirectory = directory;
        return this;
    }

    /** Sets the clock of all timeouts. */
    public StripedModelContext clock(NanoClock source) {
        this.clock = source;
        return this;
    }

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException that names the value and its valid range
     */
    public StripedModelContext conclude() {
        require(address != null, "address is not set");
        require(learner.matches(LABEL_FORM),
            "learner '" + learner + "' must be 1 to 48 letters, digits, dots, colons or hyphens");
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

    /** The effective configuration. */
    @Override
    public String toString() {
        return "address=" + address + " learner=" + learner + " secrets=" + (secrets == null ? "none" : "set")
            + " concurrentCalls=" + concurrentCalls + " connectTimeout=" + connectTimeout + " commandTimeout="
            + commandTimeout + " waitTimeout=" + waitTimeout + " reconnectTimeout=" + reconnectTimeout + " digest="
            + digest + " datamover=" + datamover + " socketDirectory=" + socketDirectory;
    }

    /** The configuration of a session with a shard; the initiator and the learner are left to set. */
    SessionContext session(int shard, Route route) {
        TransferSizes cut = sizes(route.portal().datamover());
        return new SessionContext()
            .portal(address.shards().get(shard))
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

    ModelAddress address() {
        return address;
    }

    String model() {
        return address.model();
    }

    String learner() {
        return learner;
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
