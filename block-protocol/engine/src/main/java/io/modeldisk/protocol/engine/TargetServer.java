package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.access.FailureDelays;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An iSCSI target server (RFC 7143): accepts connections for one target, over TCP or other datamovers, and serves each until it
 * ends.
 *
 * <pre>{@code
 * try (TargetServer server = TargetServer.launch(new TargetServer.Context().listen(address).target(target))) { … }
 * }</pre>
 *
 * Thread-safe.
 */
public final class TargetServer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(TargetServer.class);
    private static final long TICK_NANOS = 100_000_000;

    private final Context context;
    private final BufferPool pool;
    private final List<TargetPortal> portals;
    private final List<Thread> acceptors = new ArrayList<>();
    private final Thread watchdog;
    private final Set<TargetConnection> connections = ConcurrentHashMap.newKeySet();
    private final SessionTable sessions;
    private final PendingLogins logins;
    private final FailureDelays failureDelays = new FailureDelays(System::nanoTime);
    private final RefusalLog refusals = new RefusalLog(System::nanoTime);
    private volatile boolean closed;

    private TargetServer(Context context) throws IOException {
        this.context = context;
        this.sessions = new SessionTable(context.target, context.maxConnections);
        this.logins = new PendingLogins(context.maxLogins);
        this.portals = open(context);
        this.pool = new BufferPool(context.bufferBytes);
        prepareMemory();
        for (TargetPortal portal : portals) {
            acceptors.add(Thread.ofPlatform().name("acceptor " + portal.datamover()).daemon()
                .unstarted(() -> accept(portal)));
        }
        this.watchdog = Thread.ofPlatform().name("connection-watchdog").daemon().unstarted(this::watch);
    }

    /**
     * Starts to serve.
     *
     * @throws IOException if the address cannot be listened on, in words
     * @throws IllegalArgumentException for a context that cannot be
     */
    public static TargetServer launch(Context context) throws IOException {
        TargetServer server = new TargetServer(context.conclude());
        server.acceptors.forEach(Thread::start);
        server.watchdog.start();
        return server;
    }

    private static List<TargetPortal> open(Context context) throws IOException {
        List<TargetPortal> opened = new ArrayList<>();
        InetSocketAddress address = context.listen;
        try {
            for (TargetPortal.Opener opener : context.datamovers) {
                opened.add(opener.open(address, context.target.name()));
                address = opened.getLast().localAddress();
            }
            return List.copyOf(opened);
        } catch (IOException | RuntimeException e) {
            opened.forEach(TargetPortal::close);
            throw e;
        }
    }

    private void prepareMemory() throws IOException {
        try {
            for (TargetPortal portal : portals) {
                portal.prepare(pool.memory());
                for (DataMemory memory : context.target.memories()) {
                    portal.prepare(memory);
                }
            }
        } catch (IOException | RuntimeException e) {
            portals.forEach(TargetPortal::close);
            pool.close();
            throw e;
        }
    }

    private void accept(TargetPortal portal) {
        while (!closed) {
            try {
                IncomingConnection incoming = portal.accept();
                InetAddress peer = incoming.peerAddress();
                if (context.access.admits(peer)) {
                    logins.awaitRoom();
                    serve(incoming, portal.datamover());
                } else {
                    refusals.refused(peer, "its address is not among --allow-address");
                    incoming.close();
                }
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                // Out of descriptors, say: those who are connected go on; try again in a while.
                LOG.error("cannot accept a connection: {}", e.toString());
                LockSupport.parkNanos(TICK_NANOS);
            }
        }
    }

    private void serve(IncomingConnection incoming, String datamoverName) throws IOException {
        TargetConnection connection;
        try {
            connection = new TargetConnection(this, incoming, context.parameters(datamoverName));
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            incoming.close();
            throw new IOException("a connection cannot be served: " + e, e);
        }
        connections.add(connection);
        logins.add(connection);
        try {
            Thread receiver = context.threadFactory.newThread(connection);
            receiver.setName("receiver " + connection);
            receiver.start();
        } catch (RuntimeException | OutOfMemoryError e) {
            connections.remove(connection);
            logins.remove(connection);
            connection.abandon();
            throw new IOException("no thread to serve it: " + e, e);
        }
        if (closed) {
            connection.close();
        }
    }

    private void watch() {
        while (!closed) {
            LockSupport.parkNanos(TICK_NANOS);
            long now = System.nanoTime();
            connections.forEach(connection -> connection.tick(now));
        }
    }

    /** Takes in a session whose login is about to succeed. */
    Session establish(Session wanted) throws IOException {
        return sessions.establish(wanted);
    }

    /** A connection's login has succeeded. */
    void loggedIn(TargetConnection connection) {
        logins.remove(connection);
    }

    /** A connection has ended; if it had a session, that is over. */
    void ended(TargetConnection connection, boolean loggedOut) {
        logins.remove(connection);
        connections.remove(connection);
        Session session = connection.session();
        if (session != null) {
            sessions.ended(session, loggedOut);
        }
    }

    /** Does something to every session but one. */
    void forOtherSessions(TargetConnection but, Consumer<FullFeaturePhase> action) {
        connections.forEach(connection -> {
            FullFeaturePhase phase = connection.phase();
            if (phase != null && connection != but) {
                action.accept(phase);
            }
        });
    }

    Context context() {
        return context;
    }

    BufferPool pool() {
        return pool;
    }

    /** How many chunks are kept for new sessions and for large writes when sessions want deeper queues. */
    int poolReserve() {
        int newSessions = Math.max(0, context.maxConnections - sessions.count());
        return newSessions * context.initialCommands + TaskSlot.MAX_CHUNKS;
    }

    FailureDelays failureDelays() {
        return failureDelays;
    }

    /** Where the server listens, or would over TCP; with the port that the system chose if 0 was asked for. */
    public InetSocketAddress localAddress() {
        return portals.getLast().localAddress();
    }

    /** Where initiators reach it, for each datamover. */
    public List<TargetPortal> portals() {
        return portals;
    }

    /** How many connections there are, those that have not logged in yet among them. */
    public int connectionCount() {
        return connections.size();
    }

    /** How much of the buffer memory no session holds; all of it when there is none. */
    public long freeBufferBytes() {
        return (long) pool.freeChunks() * BufferPool.CHUNK_BYTES;
    }

    /** Closes every connection, waits until their threads have ended, and gives the memory back. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            portals.forEach(TargetPortal::close);
            for (Thread acceptor : acceptors) {
                acceptor.join();
            }
            connections.forEach(TargetConnection::close);
            for (TargetConnection connection : connections) {
                SessionTable.awaitEnd(connection);
            }
            LockSupport.unpark(watchdog);
            watchdog.join();
            pool.close();
        } catch (IOException e) {
            LOG.error("a connection did not end; its memory is not given back: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What a server needs to know. Times are bounds on waits: past them the peer is taken for dead. */
    public static final class Context {
        /** The port that the IANA has assigned to iSCSI targets. */
        public static final int DEFAULT_PORT = 3260;

        /** The memory for data on its way in, shared by all sessions. */
        public static final long DEFAULT_BUFFER_BYTES = 256L << 20;

        /**
         * How many connections there may be that have logged in, a session each: 256 that push and pull, and room for those who
         * look on or search.
         */
        public static final int DEFAULT_MAX_CONNECTIONS = 288;

        /** How many connections there may be that have not logged in. */
        public static final int DEFAULT_MAX_LOGINS = 64;

        /** The deepest queue of commands of one session. */
        public static final int DEFAULT_MAX_COMMANDS = 32;

        /** The queue that every session is sure of. */
        public static final int DEFAULT_INITIAL_COMMANDS = 2;

        /** How long a command waits for its round before it ends with BUSY. */
        public static final long DEFAULT_WAIT_BOUND_MILLIS = 5_000;

        /** How long a login may take. */
        public static final long DEFAULT_LOGIN_TIMEOUT_SECONDS = 15;

        /** How long a PDU, and the data of a write, may take once begun. */
        public static final long DEFAULT_TRANSFER_TIMEOUT_SECONDS = 30;

        /** How long a silent initiator is left alone before it is pinged; silent as long again, it is disconnected. */
        public static final long DEFAULT_PING_INTERVAL_SECONDS = 15;

        private static final int DATA_SEGMENT_BYTES = 1 << 20;
        private static final int MIN_FIRST_BURST_BYTES = 512;
        private static final int MAX_BURST_BYTES = 4 << 20;

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
        private long waitBoundMillis = DEFAULT_WAIT_BOUND_MILLIS;
        private long loginTimeoutSeconds = DEFAULT_LOGIN_TIMEOUT_SECONDS;
        private long transferTimeoutSeconds = DEFAULT_TRANSFER_TIMEOUT_SECONDS;
        private long pingIntervalSeconds = DEFAULT_PING_INTERVAL_SECONDS;
        private final SecureRandom random = new SecureRandom();
        private ThreadFactory threadFactory = Thread.ofPlatform().daemon().factory();

        /** Sets where to listen; port 0 lets the system choose one. */
        public Context listen(InetSocketAddress address) {
            this.listen = address;
            return this;
        }

        /**
         * Sets over which datamovers to serve; TCP alone by default. They are opened one after the other, and where the first
         * chooses a port the others hear of it.
         */
        public Context datamovers(List<TargetPortal.Opener> openers) {
            this.datamovers = List.copyOf(openers);
            return this;
        }

        /** Sets what to serve. */
        public Context target(Target served) {
            this.target = served;
            return this;
        }

        /**
         * Sets how much of a write an initiator may send unasked (ImmediateData, FirstBurstLength), for each datamover by its
         * name: 0, or 512 bytes to 256 KiB, which is the default.
         */
        public Context eagerBytes(ToIntFunction<String> ofDatamover) {
            this.eagerBytes = ofDatamover;
            return this;
        }

        /** Sets the memory for data on its way in. */
        public Context bufferBytes(long bytes) {
            this.bufferBytes = bytes;
            return this;
        }

        /** The memory for data on its way in. */
        public long bufferBytes() {
            return bufferBytes;
        }

        /** Sets who may use the target; without it, everybody on this machine and nobody else. */
        public Context access(AccessPolicy policy) {
            this.access = policy;
            return this;
        }

        /** Who may use the target. */
        public AccessPolicy access() {
            return access;
        }

        /** Sets where the parts of the target are; without it, it is all here. */
        public Context portals(Portals parts) {
            this.portals = parts;
            return this;
        }

        /** Sets how many connections there may be that have not logged in yet; more wait to be accepted. */
        public Context maxLogins(int connections) {
            this.maxLogins = connections;
            return this;
        }

        /** Sets how many connections there may be that have logged in. */
        public Context maxConnections(int connections) {
            this.maxConnections = connections;
            return this;
        }

        /** How many connections there may be at the same time. */
        public int maxConnections() {
            return maxConnections;
        }

        /** Sets the deepest queue of commands of one session. */
        public Context maxCommands(int commands) {
            this.maxCommands = commands;
            return this;
        }

        /** Sets how long a command waits for its round before it ends with BUSY. */
        public Context waitBoundMillis(long millis) {
            this.waitBoundMillis = millis;
            return this;
        }

        /** Sets how long a login may take. */
        public Context loginTimeoutSeconds(long seconds) {
            this.loginTimeoutSeconds = seconds;
            return this;
        }

        /** Sets how long a PDU, and the data of a write, may take once begun. */
        public Context transferTimeoutSeconds(long seconds) {
            this.transferTimeoutSeconds = seconds;
            return this;
        }

        /** Sets how long a silent initiator is left alone. */
        public Context pingIntervalSeconds(long seconds) {
            this.pingIntervalSeconds = seconds;
            return this;
        }

        /** Sets what makes the threads that serve connections. */
        public Context threadFactory(ThreadFactory factory) {
            this.threadFactory = factory;
            return this;
        }

        private Context conclude() {
            if (target == null) {
                throw new IllegalArgumentException("there is no target to serve");
            }
            if (datamovers.isEmpty()) {
                throw new IllegalArgumentException("there is no datamover to serve over");
            }
            access.checkListen(listen);
            atLeast("maxConnections", maxConnections, 1);
            atLeast("maxLogins", maxLogins, 1);
            atLeast("maxCommands", maxCommands, initialCommands);
            atLeast("waitBoundMillis", waitBoundMillis, 1);
            atLeast("loginTimeoutSeconds", loginTimeoutSeconds, 1);
            atLeast("transferTimeoutSeconds", transferTimeoutSeconds, 1);
            atLeast("pingIntervalSeconds", pingIntervalSeconds, 1);
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

        Target target() {
            return target;
        }

        Portals portals() {
            return portals;
        }

        SecureRandom random() {
            return random;
        }

        int maxCommands() {
            return maxCommands;
        }

        int initialCommands() {
            return initialCommands;
        }

        long waitBoundMillis() {
            return waitBoundMillis;
        }

        long loginTimeoutSeconds() {
            return loginTimeoutSeconds;
        }

        long transferTimeoutSeconds() {
            return transferTimeoutSeconds;
        }

        long pingIntervalSeconds() {
            return pingIntervalSeconds;
        }

        ThreadFactory threadFactory() {
            return threadFactory;
        }

        /** What this side takes and wishes. */
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
                + " waitBoundMillis=" + waitBoundMillis
                + " loginTimeoutSeconds=" + loginTimeoutSeconds
                + " transferTimeoutSeconds=" + transferTimeoutSeconds
                + " pingIntervalSeconds=" + pingIntervalSeconds;
        }
    }
}
