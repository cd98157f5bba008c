package io.modeldisk.protocol.engine;

import io.modeldisk.platform.Arguments;
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
 * peer or ends the command. The server reads the fields after {@link #conclude}. Not thread-safe.
 */
public final class TargetContext {
    /** The default port, which the IANA has assigned to iSCSI targets. */
    public static final int DEFAULT_PORT = 3260;

    /** The default size in bytes of the memory for incoming data, which all sessions share. */
    public static final long DEFAULT_BUFFER_BYTES = 256L << 20;

    /** The default maximum number of sessions: 256 for learners, and 32 for other initiators and for discovery. */
    public static final int DEFAULT_MAX_CONNECTIONS = 288;

    /** The default time of silence after which the target pings an initiator. */
    public static final Duration DEFAULT_PING_INTERVAL = Duration.ofSeconds(15);

    /** The default maximum number of connections that have not logged in. */
    static final int DEFAULT_MAX_LOGINS = 64;

    /** The length of the command queue that is guaranteed to every session. */
    static final int INITIAL_COMMANDS = 2;

    private static final int DATA_SEGMENT_BYTES = 1 << 20;
    private static final int MIN_FIRST_BURST_BYTES = 512;
    private static final int MAX_BURST_BYTES = 4 << 20;

    final SecureRandom random = new SecureRandom();
    InetSocketAddress listen = new InetSocketAddress("127.0.0.1", DEFAULT_PORT);
    List<TargetPortal.Opener> datamovers = List.of(new TcpPortal.Opener());
    long bufferBytes = DEFAULT_BUFFER_BYTES;
    int maxConnections = DEFAULT_MAX_CONNECTIONS;
    /** The maximum number of connections not logged in; for one address, half of this number. Further connections wait. */
    int maxLogins = DEFAULT_MAX_LOGINS;
    AccessPolicy access = AccessPolicy.THIS_MACHINE;
    Portals portals = Portals.ONE;
    /** The maximum length of the command queue of one session. */
    int maxCommands = 32;
    Duration waitBound = Duration.ofSeconds(5);
    Duration loginTimeout = Duration.ofSeconds(15);
    /** The time limit for the transfer of a PDU and for the transfer of a write's data. */
    Duration transferTimeout = Duration.ofSeconds(30);
    Duration pingInterval = DEFAULT_PING_INTERVAL;
    Duration maxFailureDelay = Duration.ofMillis(FailureDelays.LONGEST_MS);
    /** The time for which a login waits for the end of the session that it replaces. Only tests change this value. */
    Duration endTimeout = SessionTable.END_TIMEOUT;
    /** Creates the threads that serve connections. Only tests change this factory. */
    ThreadFactory threadFactory = ThreadName.RECEIVER.builder().factory();
    NanoClock clock = NanoClock.SYSTEM;
    private ToIntFunction<String> eagerBytes = _ -> BufferPool.CHUNK_BYTES;

    /** Sets the address to listen on. If the port is 0, the system chooses a port. */
    public TargetContext listen(InetSocketAddress address) {
        this.listen = address;
        return this;
    }

    public InetSocketAddress listen() {
        return listen;
    }

    /**
     * Sets the datamovers. The default is TCP alone. The datamovers are opened in the order of the list. If the port is 0, the
     * first datamover chooses a port, and the other datamovers use the same port.
     */
    public TargetContext datamovers(List<TargetPortal.Opener> openers) {
        this.datamovers = List.copyOf(openers);
        return this;
    }

    /** True if at least one datamover might be able to fetch the data of writes into device memory. */
    public boolean mayReachDevices() {
        return datamovers.stream().anyMatch(TargetPortal.Opener::mayReachDevices);
    }

    /**
     * Sets the function that returns, for the name of a datamover, the maximum unsolicited data of one write in bytes
     * (ImmediateData, FirstBurstLength). This maximum must be 0, or from 512 bytes to 256 KiB. The default is 256 KiB.
     */
    public TargetContext eagerBytes(ToIntFunction<String> ofDatamover) {
        this.eagerBytes = ofDatamover;
        return this;
    }

    /** Sets the size of the memory for incoming data, which all sessions share; 256 MiB by default. */
    public TargetContext bufferBytes(long bytes) {
        this.bufferBytes = bytes;
        return this;
    }

    /** Returns the size in bytes of the memory for incoming data. */
    public long bufferBytes() {
        return bufferBytes;
    }

    /** Sets the access policy. By default all users of this machine have access, and other machines have no access. */
    public TargetContext access(AccessPolicy policy) {
        this.access = policy;
        return this;
    }

    /** Sets the portals of all parts of the target. Each shard serves one part. By default the target has one part. */
    public TargetContext portals(Portals parts) {
        this.portals = parts;
        return this;
    }

    /** Sets the maximum number of connections that have logged in; 288 by default. */
    public TargetContext maxConnections(int connections) {
        this.maxConnections = connections;
        return this;
    }

    public int maxConnections() {
        return maxConnections;
    }

    /** Sets the maximum wait of a command, for example for a round; 5 s by default. The command then ends with BUSY. */
    public TargetContext waitBound(Duration duration) {
        this.waitBound = duration;
        return this;
    }

    /** Sets the time limit of a login; 15 s by default. */
    public TargetContext loginTimeout(Duration duration) {
        this.loginTimeout = duration;
        return this;
    }

    /** Sets the time of silence after which an initiator is pinged. After twice this time, the initiator is disconnected. */
    public TargetContext pingInterval(Duration duration) {
        this.pingInterval = duration;
        return this;
    }

    /** Sets the maximum delay of the response to a failed login. Zero means no delay. */
    public TargetContext maxFailureDelay(Duration duration) {
        this.maxFailureDelay = duration;
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
     * @throws IllegalArgumentException if a value is out of range; the message names the first such value
     */
    public TargetContext conclude() {
        Arguments.require(!datamovers.isEmpty(), "datamovers=[] must name at least one datamover");
        access.checkListen(listen);
        Arguments.require(maxConnections >= 1, "maxConnections=" + maxConnections + " must be at least 1");
        Arguments.require(maxCommands >= INITIAL_COMMANDS,
            "maxCommands=" + maxCommands + " must be at least " + INITIAL_COMMANDS);
        positive("waitBound", waitBound);
        positive("pingInterval", pingInterval);
        long least = (long) (maxConnections * INITIAL_COMMANDS + TaskSlot.MAX_CHUNKS) * BufferPool.CHUNK_BYTES;
        Arguments.require(bufferBytes >= least,
            "bufferBytes=" + bufferBytes + " must be at least " + least + " for " + maxConnections + " connections");
        return this;
    }

    private static void positive(String name, Duration value) {
        Arguments.require(value.isPositive(), name + "=" + DurationText.format(value) + " must be longer than 0s");
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
