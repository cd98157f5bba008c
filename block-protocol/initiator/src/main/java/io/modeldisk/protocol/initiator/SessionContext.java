package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The configuration of a session. */
public final class SessionContext {
    /** The default time limit for the connection and the login, and for the response to ABORT TASK. */
    public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /**
     * The default time after which a session is closed as lost, if the target does not respond to a command or accepts no further
     * command.
     */
    public static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(30);

    /** The default for the maximum number of commands in flight. */
    public static final int DEFAULT_QUEUE_DEPTH = TransferSizes.DEFAULTS.queueDepth();

    private static final int MAX_BURST_BYTES = 4 << 20;
    private static final int DATA_SEGMENT_BYTES = 1 << 20;

    private InetSocketAddress portal;
    private InitiatorPortal over;
    private String targetName;
    private String initiatorName;
    private long isid;
    private String learner;
    private ChapSecrets secrets;
    private int shardIndex = ShardId.UNKNOWN;
    private Duration connectTimeout = DEFAULT_CONNECT_TIMEOUT;
    private Duration commandTimeout = DEFAULT_COMMAND_TIMEOUT;
    private NanoClock clock = NanoClock.SYSTEM;
    private int queueDepth = DEFAULT_QUEUE_DEPTH;
    private int eagerBytes = TransferSizes.DEFAULTS.eagerBytes();
    private Digest headerDigest = Digest.NONE;
    private Digest dataDigest = Digest.NONE;
    private Runnable onFarewell = () -> {};

    /** Sets the target's TCP address. */
    public SessionContext portal(InetSocketAddress address) {
        this.portal = address;
        return this;
    }

    /** Sets the portal that connects to the target. The portal determines the datamover; TCP by default. */
    public SessionContext over(InitiatorPortal way) {
        this.over = way;
        return this;
    }

    /** Sets the target's iSCSI name. */
    public SessionContext targetName(String name) {
        this.targetName = name;
        return this;
    }

    /** Sets the initiator's identity: its iSCSI name, and the ISID that distinguishes its sessions. */
    public SessionContext initiator(String name, long sessionId) {
        this.initiatorName = name;
        this.isid = sessionId;
        return this;
    }

    /** Sets the label of the learner. By default, the session has no label. */
    public SessionContext learner(String label) {
        this.learner = label;
        return this;
    }

    /** Sets the names and secrets for CHAP. Without secrets (null, the default), the session does not authenticate. */
    public SessionContext secrets(ChapSecrets known) {
        this.secrets = known;
        return this;
    }

    /** Sets the shard number for error messages; {@link ShardId#UNKNOWN} by default. */
    public SessionContext shard(int index) {
        this.shardIndex = index;
        return this;
    }

    /** Sets the time limit for the connection and the login, and for the response to ABORT TASK; 5 s by default. */
    public SessionContext connectTimeout(Duration timeout) {
        this.connectTimeout = timeout;
        return this;
    }

    /** Sets the time limit for the response to a command; 30 s by default. */
    public SessionContext commandTimeout(Duration timeout) {
        this.commandTimeout = timeout;
        return this;
    }

    /** Sets the clock for all timeouts. */
    public SessionContext clock(NanoClock source) {
        this.clock = source;
        return this;
    }

    /** Sets the maximum number of commands in flight, 1 to 1023. */
    public SessionContext queueDepth(int depth) {
        if (depth < 1 || depth > 1023) {
            throw new IllegalArgumentException("queueDepth=" + depth + " must be from 1 to 1023");
        }
        this.queueDepth = depth;
        return this;
    }

    /** Sets the maximum number of bytes of a write that are sent together with the command; see {@link TransferSizes}. */
    public SessionContext eagerBytes(int bytes) {
        this.eagerBytes = TransferSizes.DEFAULTS.withEagerBytes(bytes).eagerBytes();
        return this;
    }

    /** Sets the digests of headers and data; none by default. The login fails if the target does not agree to the digests. */
    public SessionContext digests(Digest header, Digest data) {
        this.headerDigest = header;
        this.dataDigest = data;
        return this;
    }

    /**
     * Sets the action when the target tells that it closes the session. It replaces the log's line about a lost session, and must
     * not wait. By default, there is no action.
     */
    public SessionContext onFarewell(Runnable action) {
        this.onFarewell = action;
        return this;
    }

    Runnable onFarewell() {
        return onFarewell;
    }

    String targetName() {
        return targetName;
    }

    String initiatorName() {
        return initiatorName;
    }

    long isid() {
        return isid;
    }

    String learner() {
        return learner;
    }

    ChapSecrets secrets() {
        return secrets;
    }

    String portalText() {
        return TargetAddress.text(portal);
    }

    InitiatorPortal over() {
        return over == null ? new TcpInitiatorPortal(portal) : over;
    }

    ShardId shardId() {
        return new ShardId(shardIndex, portalText());
    }

    long connectTimeoutMs() {
        return connectTimeout.toMillis();
    }

    long connectTimeoutNs() {
        return connectTimeout.toNanos();
    }

    long commandTimeoutNs() {
        return commandTimeout.toNanos();
    }

    NanoClock clock() {
        return clock;
    }

    int queueDepth() {
        return queueDepth;
    }

    /** Returns the parameters that the initiator offers in the login. */
    OperationalParameters parameters() {
        return new OperationalParameters(
            false, eagerBytes > 0, Math.max(eagerBytes, TransferSizes.MIN_EAGER_BYTES), MAX_BURST_BYTES,
            DATA_SEGMENT_BYTES, DATA_SEGMENT_BYTES, headerDigest,
            dataDigest);
    }
}
