package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The configuration of a session. The other classes of this package read the fields directly. Not thread-safe. */
public final class SessionContext implements Cloneable {
    private static final int MAX_BURST_BYTES = 4 << 20;
    private static final int DATA_SEGMENT_BYTES = 1 << 20;

    String targetName;
    String initiatorName;
    long isid;
    String learner;
    ChapSecrets secrets;
    Duration connectTimeout = Duration.ofSeconds(5);
    Duration commandTimeout = Duration.ofSeconds(30);
    NanoClock clock = NanoClock.SYSTEM;
    TransferSizes sizes = TransferSizes.DEFAULTS;
    Runnable onFarewell = () -> {};
    boolean discovery;
    private InetSocketAddress portal;
    private InitiatorPortal over;
    private int shardIndex = ShardId.UNKNOWN;
    private Digest headerDigest = Digest.NONE;
    private Digest dataDigest = Digest.NONE;

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

    /** Makes the session a discovery session, which can only ask for the targets. */
    public SessionContext discovery() {
        this.discovery = true;
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
        this.connectTimeout = positive("connectTimeout", timeout);
        return this;
    }

    /**
     * Sets the command timeout; 30 s by default. If the target does not respond to a command for this time, or accepts no further
     * command, the session is closed as lost.
     */
    public SessionContext commandTimeout(Duration timeout) {
        this.commandTimeout = positive("commandTimeout", timeout);
        return this;
    }

    /** Returns the command timeout; see {@link #commandTimeout(Duration)}. */
    public Duration commandTimeout() {
        return commandTimeout;
    }

    private static Duration positive(String name, Duration value) {
        Arguments.require(value.isPositive(), name + "=" + DurationText.format(value) + " must be longer than 0s");
        return value;
    }

    /** Sets the clock for all timeouts. */
    public SessionContext clock(NanoClock source) {
        this.clock = source;
        return this;
    }

    /** Returns the clock for all timeouts. */
    public NanoClock clock() {
        return clock;
    }

    /** Sets the maximum number of commands in flight, 1 to 1023. */
    public SessionContext queueDepth(int depth) {
        return sizes(sizes.withQueueDepth(depth));
    }

    /** Sets the eager size and the maximum number of commands in flight. */
    public SessionContext sizes(TransferSizes value) {
        this.sizes = value;
        return this;
    }

    /** Sets the digests of headers and data; none by default. The login fails if the target does not agree to the digests. */
    public SessionContext digests(Digest header, Digest data) {
        this.headerDigest = header;
        this.dataDigest = data;
        return this;
    }

    /**
     * Sets the action that runs when the target announces that it closes the session. The session then logs no warning about a
     * lost session. The action must not block. By default, there is no action.
     */
    public SessionContext onFarewell(Runnable action) {
        this.onFarewell = action;
        return this;
    }

    /** Returns the kind of digest that protects the data of a PDU. */
    public Digest dataDigest() {
        return dataDigest;
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

    /** Returns the parameters that the initiator offers in the login. */
    OperationalParameters parameters() {
        int eagerBytes = sizes.eagerBytes();
        return new OperationalParameters(
            false, eagerBytes > 0, Math.max(eagerBytes, TransferSizes.MIN_EAGER_BYTES), MAX_BURST_BYTES,
            DATA_SEGMENT_BYTES, DATA_SEGMENT_BYTES, headerDigest,
            dataDigest);
    }

    /** Returns an independent copy: changes to the copy do not affect this object. */
    public SessionContext copy() {
        try {
            return (SessionContext) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
