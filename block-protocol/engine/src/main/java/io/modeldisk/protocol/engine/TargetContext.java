package io.modeldisk.protocol.engine;

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
 * The configuration of a {@link TargetServer}. Durations bound waits: a peer that exceeds one is disconnected, a command ends.
 * Not thread-safe.
 */
public final class TargetContext {
    /** The port that the IANA has assigned to iSCSI targets. */
    public static final int DEFAULT_PORT = 3260;

    /** The memory for incoming data, shared by all sessions. */
    public static final long DEFAULT_BUFFER_BYTES = 256L << 20;

    /** The most sessions: 256 that push and pull, and room for observers and discovery. */
    public static final int DEFAULT_MAX_CONNECTIONS = 288;

    /** The most connections that have not logged in; half of them from one address. */
    public static final int DEFAULT_MAX_LOGINS = 64;

    /** The deepest command queue of one session. */
    public static final int DEFAULT_MAX_COMMANDS = 32;

    /** The command queue that every session is guaranteed. */
    public static final int DEFAULT_INITIAL_COMMANDS = 2;

    /** How long a command waits for its round before it ends with BUSY. */
    public static final Duration DEFAULT_WAIT_BOUND = Duration.ofSeconds(5);

    /** How long a login may take. */
    public static final Duration DEFAULT_LOGIN_TIMEOUT = Duration.ofSeconds(15);

    /** How long a PDU, and the data of a write, may take once begun. */
    public static final Duration DEFAULT_TRANSFER_TIMEOUT = Duration.ofSeconds(30);

    /** How long an initiator is silent before it is pinged; it is disconnected after twice this time. */
    public static final Duration DEFAULT_PING_INTERVAL = Duration.ofSeconds(15);

    /** The longest delay of the answer to a failed login. */
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
    private ThreadFactory threadFactory = Thread.ofPlatform().daemon().factory();
    private NanoClock clock = NanoClock.SYSTEM;

    /** Sets the address to listen on; with port 0 the system chooses the port. */
    public TargetContext listen(InetSocketAddress address) {
        this.listen = address;
        return this;
    }

    /**
     * Sets the datamovers; TCP alone by default. They are opened in this order; a port that the first chooses is passed to the
     * others.
     */
    public TargetContext datamovers(List<TargetPortal.Opener> openers) {
        this.datamovers = List.copyOf(openers);
        return this;
    }

    /** Sets the target to serve. */
    public TargetContext target(Target served) {
        this.target = served;
        return this;
    }

    /**
     * Sets how much of a write an initiator may send unsolicited (ImmediateData, FirstBurstLength), for each datamover by its
     * name: 0, or 512 bytes to 256 KiB, which is the default.
     */
    public TargetContext eagerBytes(ToIntFunction<String> ofDatamover) {
        this.eagerBytes = ofDatamover;
        return this;
    }

    /** Sets the memory for incoming data. */
    public TargetContext bufferBytes(long bytes) {
        this.bufferBytes = bytes;
        return this;
    }

    /** Sets the access policy; by default all users of this machine, and no other machine. */
    public TargetContext access(AccessPolicy policy) {
        this.access = policy;
        return this;
    }

    /** Returns the access policy. */
    public AccessPolicy access() {
        return access;
    }

    /** Sets the portals of all parts of the target; by default it has one part. */
    public TargetContext portals(Portals parts) {
        this.portals = parts;
        return this;
    }

    /** Sets the most connections that have not logged in; half of them may come from one address. Others wait. */
    public TargetContext maxLogins(int connections) {
        this.maxLogins = connections;
        return this;
    }

    /** Sets the most connections that have logged in. */
    public TargetContext maxConnections(int connections) {
        this.maxConnections = connections;
        return this;
    }

    /** Sets the deepest command queue of one session. */
    public TargetContext maxCommands(int commands) {
        this.maxCommands = commands;
        return this;
    }

    /** Sets how long a command waits for its round before it ends with BUSY. */
    public TargetContext waitBound(Duration duration) {
        this.waitBound = duration;
        return this;
    }

    /** Sets how long a login may take. */
    public TargetContext loginTimeout(Duration duration) {
        this.loginTimeout = duration;
        return this;
    }

    /** Sets how long a PDU, and the data of a write, may take once begun. */
    public TargetContext transferTimeout(Duration duration) {
        this.transferTimeout = duration;
        return this;
    }

    /** Sets how long an initiator is silent before it is pinged; it is disconnected after twice this time. */
    public TargetContext pingInterval(Duration duration) {
        this.pingInterval = duration;
        return this;
    }

    /** Sets the longest delay of the answer to a failed login; zero for none. */
    public TargetContext maxFailureDelay(Duration duration) {
        this.maxFailureDelay = duration;
        return this;
    }

    /** Sets the factory of the threads that serve connections. */
    public TargetContext threadFactory(ThreadFactory factory) {
        this.threadFactory = factory;
        return this;
    }

    /** Sets the clock of all timeouts. */
    public TargetContext clock(NanoClock instance) {
        this.clock = instance;
        return this;
    }

    /**
     * Checks the configuration.
     *
     * @throws IllegalArgumentException for the first value that is out of range, or missing
     */
    public TargetContext conclude() {
        if (target == null) {
            throw new IllegalArgumentException("target is missing");
        }
        if (datamovers.isEmpty()) {
            throw new IllegalArgumentException("datamovers=[] must name at least one");
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

    /** Returns the memory for incoming data. */
    public long bufferBytes() {
        return bufferBytes;
    }

    /** Returns the most connections that have logged in. */
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

    ThreadFactory threadFactory() {
        return threadFactory;
    }

    NanoClock clock() {
        return clock;
    }

    /** The limits and offers of this side. */
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
