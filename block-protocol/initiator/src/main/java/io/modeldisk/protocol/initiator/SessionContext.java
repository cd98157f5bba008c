package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetSocketAddress;

/** What a session needs to know. */
public final class SessionContext {
    /** How long connecting and logging in may take. */
    public static final long DEFAULT_CONNECT_TIMEOUT_MILLIS = 5_000;

    /** How long the target may take no further command, or leave one unanswered. */
    public static final long DEFAULT_COMMAND_TIMEOUT_MILLIS = 30_000;

    /** How many commands are in flight at most. */
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
    private long connectTimeoutMillis = DEFAULT_CONNECT_TIMEOUT_MILLIS;
    private long commandTimeoutMillis = DEFAULT_COMMAND_TIMEOUT_MILLIS;
    private int queueDepth = DEFAULT_QUEUE_DEPTH;
    private int eagerBytes = TransferSizes.DEFAULTS.eagerBytes();
    private Digest headerDigest = Digest.NONE;
    private Digest dataDigest = Digest.NONE;

    /** Sets where the target is. */
    public SessionContext portal(InetSocketAddress address) {
        this.portal = address;
        return this;
    }

    /** Sets the datamover and its way to the target; TCP to the portal by default. */
    public SessionContext over(InitiatorPortal way) {
        this.over = way;
        return this;
    }

    /** Sets the target's iSCSI name. */
    public SessionContext targetName(String name) {
        this.targetName = name;
        return this;
    }

    /** Sets this initiator's identity: its iSCSI name, and the ISID that tells its sessions apart. */
    public SessionContext initiator(String name, long sessionId) {
        this.initiatorName = name;
        this.isid = sessionId;
        return this;
    }

    /** Sets the learner's label; without one the session has none. */
    public SessionContext learner(String label) {
        this.learner = label;
        return this;
    }

    /** Sets the names and secrets of CHAP; without them, or with null, the session does not authenticate. */
    public SessionContext secrets(ChapSecrets known) {
        this.secrets = known;
        return this;
    }

    /** Sets how long connecting and logging in may take. */
    public SessionContext connectTimeoutMillis(long millis) {
        this.connectTimeoutMillis = millis;
        return this;
    }

    /** Sets how long the target may leave a command unanswered. */
    public SessionContext commandTimeoutMillis(long millis) {
        this.commandTimeoutMillis = millis;
        return this;
    }

    /** Sets how many commands are in flight at most, 1 to 1023. */
    public SessionContext queueDepth(int depth) {
        if (depth < 1 || depth > 1023) {
            throw new IllegalArgumentException("queueDepth=" + depth + " must be from 1 to 1023");
        }
        this.queueDepth = depth;
        return this;
    }

    /** Sets how much of a write travels with its command; see {@link TransferSizes}. */
    public SessionContext eagerBytes(int bytes) {
        this.eagerBytes = TransferSizes.DEFAULTS.withEagerBytes(bytes).eagerBytes();
        return this;
    }

    /** Sets what must protect headers and data; none by default. A target that does not agree is not logged in to. */
    public SessionContext digests(Digest header, Digest data) {
        this.headerDigest = header;
        this.dataDigest = data;
        return this;
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

    long connectTimeoutMillis() {
        return connectTimeoutMillis;
    }

    long commandTimeoutMillis() {
        return commandTimeoutMillis;
    }

    int queueDepth() {
        return queueDepth;
    }

    /** What this side takes and wishes. */
    OperationalParameters parameters() {
        return new OperationalParameters(
            false, eagerBytes > 0, Math.max(eagerBytes, TransferSizes.MIN_EAGER_BYTES), MAX_BURST_BYTES,
            DATA_SEGMENT_BYTES, DATA_SEGMENT_BYTES, headerDigest,
            dataDigest);
    }
}
