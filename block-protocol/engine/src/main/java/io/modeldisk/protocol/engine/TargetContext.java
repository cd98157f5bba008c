package io.modeldisk.protocol.engine;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.access.FailureDelays;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TargetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.ToIntFunction;

/**
 * The configuration of a {@link TargetServer}. The durations limit waits: if a wait takes too long, the server disconnects the
 * peer or ends the command. Not thread-safe.
 */
public final class TargetContext {
    /** The default port, which the IANA has assigned to iSCSI targets. */
    public static final int DEFAULT_PORT = 3260;

    /** The default size in bytes of the memory for incoming data, which all sessions share. */
    public static final long DEFAULT_BUFFER_BYTES = 256L << 20;

    /** The default maximum number of sessions: 256 for learners, and 32 for other initiators and for discovery. */
    public static final int DEFAULT_MAX_CONNECTIONS = 288;

    /** The default maximum number of connections that have not logged in. One address may have at most half of this number. */
    public static final int DEFAULT_MAX_LOGINS = 64;

    /** The default maximum length of the command queue of one session. */
    public static final int DEFAULT_MAX_COMMANDS = 32;

    /** The default length of the command queue that is guaranteed to every session. */
    public static final int DEFAULT_INITIAL_COMMANDS = 2;

    /** The default time for which a command may wait, for example for a round. After this time the command ends with BUSY. */
    public static final Duration DEFAULT_WAIT_BOUND = Duration.ofSeconds(5);

    /** The default time limit of a login. */
    public static final Duration DEFAULT_LOGIN_TIMEOUT = Duration.ofSeconds(15);

    /** The default time limit for the transfer of a PDU and for the transfer of a write's data. */
    public static final Duration DEFAULT_TRANSFER_TIMEOUT = Duration.ofSeconds(30);

    /** The default silence after which an initiator is pinged. After twice this silence the initiator is disconnected. */
    public static final Duration DEFAULT_PING_INTERVAL = Duration.ofSeconds(15);

    /** The default maximum delay of the response to a failed login. */
    public static final Duration DEFAULT_MAX_FAILURE_DELAY = Duration.ofMillis(FailureDelays.LONGEST_MS);

    private static final int DATA_SEGMENT_BYTES = 1 << 20;
    private static final int MIN_FIRST_BURST_BYTES = 512;
    private static final int MAX_BURST_BYTES = 4 << 20;

    private final SecureRandom random = new SecureRandom();
    private InetSocketAddress listen = new InetSocketAddress("127.0.0.1", DEFAULT_PORT);
    private ToIntFunction<String> eagerBytes = _ -> BufferPool.CHUNK_BYTES;
    private List<TargetPortal.Opener> datamovers = List.of(new TcpPortal.Opener());
    private Target target;
    private long bufferBytes = DEFAULT_BUFFER_BYTES;
    private int maxConnections = DEFAULT_MAX_CONNECTIONS;
    private int maxLogins = DEFAULT_MAX_LOGINS;
    private AccessPolicy access = AccessPolicy.THIS_MACHINE;
    private Portals portals = Portals.ONE;
    private int maxCommands = DEFAULT_MAX_COMMANDS;
    private int initialCommands = DEFAULT_INITIAL_COMMANDS;
    private Duration waitBound = DEFAULT_WAIT_BOUND;
    private Duration loginTimeout = DEFAULT_LOGIN_TIMEOUT;
    private Duration transferTimeout = DEFAULT_TRANSFER_TIMEOUT;
    private Duration pingInterval = DEFAULT_PING_INTERVAL;
    private Duration maxFailureDelay = DEFAULT_MAX_FAILURE_DELAY;
    private Duration endTimeout = SessionTable.END_TIMEOUT;
    private ThreadFactory threadFactory = ThreadName.RECEIVER.builder().factory();
    private NanoClock clock = NanoClock.SYSTEM;

    /** Sets the address to listen on. If the port is 0, the system chooses a port. */
    public TargetContext listen(InetSocketAddress address) {
        this.listen = address;
        return this;
    }

    /**
     * Sets the datamovers. The default is TCP alone. The datamovers are opened in the order of the list. A port that the first
     * datamover chooses is passed to the other datamovers.
     */
    public TargetContext datamovers(List<TargetPortal.Opener> openers) {
        this.datamovers = List.copyOf(openers);
        return this;
    }

    /** Whether a datamover may be able to fetch the data of writes into memory of a device. */
    public boolean mayReachDevices() {
        return datamovers.stream().anyMatch(TargetPortal.Opener::mayReachDevices);
    }

    /** Sets the target that the server serves. */
    public TargetContext target(Target served) {
        this.target = served;
        return this;
    }

    /**
     * Sets the function that returns the maximum unsolicited data of one write in bytes (ImmediateData, FirstBurstLength). The
     * function gets the name of a datamover. The maximum must be 0, or from 512 bytes to 256 KiB. The default is 256 KiB.
     */
    public TargetContext eagerBytes(ToIntFunction<String> ofDatamover) {
        this.eagerBytes = ofDatamover;
        return this;
    }

    /** Sets the size of the memory for incoming data. */
    public TargetContext bufferBytes(long bytes) {
        this.bufferBytes = bytes;
        return this;
    }

    /** Sets the access policy. By default all users of this machine have access, and other machines have no access. */
    public TargetContext access(AccessPolicy policy) {
        this.access = policy;
        return this;
    }

    /** Returns the access policy. */
    public AccessPolicy access() {
        return access;
    }

    /** Sets the portals of all parts of the target. Each shard serves one part. By default the target has one part. */
    public TargetContext portals(Portals parts) {
        this.portals = parts;
        return this;
    }

    /**
     * Sets the maximum number of connections that have not logged in. One address may have at most half of this number. Further
     * connections wait.
     */
    public TargetContext maxLogins(int connections) {
        this.maxLogins = connections;
        return this;
    }

    /** Sets the maximum number of connections that have logged in. */
    public TargetContext maxConnections(int connections) {
        this.maxConnections = connections;
        return this;
    }

    /** Sets the maximum length of the command queue of one session. */
    public TargetContext maxCommands(int commands) {
        this.maxCommands = commands;
        return this;
    }

    /** Sets the time for which a command may wait, for example for a round. After this time the command ends with BUSY. */
    public TargetContext waitBound(Duration duration) {
        this.waitBound = duration;
        return this;
    }

    /** Sets the time limit of a login. */
    public TargetContext loginTimeout(Duration duration) {
        this.loginTimeout = duration;
        return this;
    }

    /** Sets the time limit for the transfer of a PDU and for the transfer of a write's data. */
    public TargetContext transferTimeout(Duration duration) {
        this.transferTimeout = duration;
        return this;
    }

    /** Sets the silence after which an initiator is pinged. After twice this silence the initiator is disconnected. */
    public TargetContext pingInterval(Duration duration) {
        this.pingInterval = duration;
        return this;
    }

    /** Sets the maximum delay of the response to a failed login. Zero means no delay. */
    public TargetContext maxFailureDelay(Duration duration) {
        this.maxFailureDelay = duration;
        return this;
    }

    /** Sets the time for which a login waits for the end of the session that it replaces. Only tests change it. */
    TargetContext endTimeout(Duration duration) {
        this.endTimeout = duration;
        return this;
    }

    /** Sets the factory of the threads that serve connections. */
    public TargetContext threadFactory(ThreadFactory factory) {
        this.threadFactory = factory;
        return this;
    }

    /** Sets the clock for all timeouts. */
    public TargetContext clock(NanoClock instance) {
        this.clock = instance;
        return this;
    }

    /**
     * Checks and returns this configuration.
     *
     * @throws IllegalArgumentException if a value is missing or out of range; the message names the first such value
     */
    public TargetContext conclude() {
        if (target == null) {
            throw new IllegalArgumentException("target is missing; set the target that the server serves");
        }
        if (datamovers.isEmpty()) {
            throw new IllegalArgumentException("datamovers=[] must name at least one datamover");
        }
        access.checkListen(listen);
        atLeast("maxConnections", maxConnections, 1);
        atLeast("maxLogins", maxLogins, 1);
        atLeast("maxCommands", maxCommands, initialCommands);
        positive("waitBound", waitBound);
        positive("loginTimeout", loginTimeout);
        positive("transferTimeout", transferTimeout);
        positive("pingInterval", pingInterval);
        long least = (long) (maxConnections * initialCommands + TaskSlot.MAX_CHUNKS) * BufferPool.CHUNK_BYTES;
        if (bufferBytes < least) {
            throw new IllegalArgumentException("bufferBytes=" + bufferBytes + " must be at least " + least + " for "
                + maxConnections + " connections");
        }
        return this;
    }

    private static void atLeast(String name, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(name + "=" + value + " must be at least " + least);
        }
    }

    private static void positive(String name, Duration value) {
        if (!value.isPositive()) {
            throw new IllegalArgumentException(name + "=" + DurationText.format(value) + " must be longer than 0s");
        }
    }

    InetSocketAddress listen() {
        return listen;
    }

    List<TargetPortal.Opener> datamovers() {
        return datamovers;
    }

    Target target() {
        return target;
    }

    Portals portals() {
        return portals;
    }

    SecureRandom random() {
        return random;
    }

    /** Returns the size in bytes of the memory for incoming data. */
    public long bufferBytes() {
        return bufferBytes;
    }

    /** Returns the maximum number of connections that have logged in. */
    public int maxConnections() {
        return maxConnections;
    }

    int maxLogins() {
        return maxLogins;
    }

    int maxCommands() {
        return maxCommands;
    }

    int initialCommands() {
        return initialCommands;
    }

    Duration waitBound() {
        return waitBound;
    }

    Duration loginTimeout() {
        return loginTimeout;
    }

    Duration transferTimeout() {
        return transferTimeout;
    }

    Duration pingInterval() {
        return pingInterval;
    }

    Duration maxFailureDelay() {
        return maxFailureDelay;
    }

    Duration endTimeout() {
        return endTimeout;
    }

    ThreadFactory threadFactory() {
        return threadFactory;
    }

    NanoClock clock() {
        return clock;
    }

    /** Returns the parameters that the target offers in a login over a datamover. */
    OperationalParameters parameters(String datamoverName) {
        int eager = Math.min(eagerBytes.applyAsInt(datamoverName), BufferPool.CHUNK_BYTES);
        return new OperationalParameters(
            false, eager > 0, Math.max(eager, MIN_FIRST_BURST_BYTES), MAX_BURST_BYTES, DATA_SEGMENT_BYTES,
            DATA_SEGMENT_BYTES,
            Digest.NONE, Digest.NONE);
    }

    @Override
    public String toString() {
        return "listen=" + TargetAddress.text(listen)
            + " datamovers=" + datamovers
            + " bufferBytes=" + bufferBytes
            + " maxConnections=" + maxConnections
            + " maxLogins=" + maxLogins
            + " " + access
            + " portals=" + portals.all().stream().map(TargetAddress::text).toList()
            + " portalGroupTag=" + portals.ownTag()
            + " maxCommands=" + maxCommands
            + " waitBound=" + DurationText.format(waitBound)
            + " loginTimeout=" + DurationText.format(loginTimeout)
            + " transferTimeout=" + DurationText.format(transferTimeout)
            + " pingInterval=" + DurationText.format(pingInterval)
            + " maxFailureDelay=" + DurationText.format(maxFailureDelay);
    }
}
