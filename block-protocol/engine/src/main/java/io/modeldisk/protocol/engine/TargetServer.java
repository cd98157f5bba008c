package io.modeldisk.protocol.engine;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.time.PeriodicThread;
import io.modeldisk.platform.time.RunningClock;
import io.modeldisk.protocol.access.FailureDelays;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An iSCSI target server (RFC 7143): accepts connections to one target over TCP and other datamovers, and serves each
 * connection until it ends.
 *
 * <pre>{@code
 * try (TargetServer server = TargetServer.launch(new TargetContext().listen(address).target(target))) { … }
 * }</pre>
 *
 * Thread-safe.
 */
public final class TargetServer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(TargetServer.class);
    private static final Duration WATCH_PERIOD = Duration.ofMillis(100);
    private static final Duration ACCEPT_RETRY = Duration.ofMillis(100);

    private final TargetContext context;
    private final BufferPool pool;
    private final List<TargetPortal> portals;
    private final List<Thread> acceptors = new ArrayList<>();
    private final PeriodicThread watchdog;
    private final Set<TargetConnection> connections = ConcurrentHashMap.newKeySet();
    private final SessionTable sessions;
    private final PendingLogins logins;
    private final RunningClock clock;
    private final FailureDelays failureDelays;
    private final RefusalLog refusals;
    private volatile boolean closed;

    private TargetServer(TargetContext context) throws IOException {
        this.context = context;
        this.clock = new RunningClock(context.clock(), RunningClock.DEFAULT_LONGEST_STEP);
        this.failureDelays = new FailureDelays(clock);
        this.refusals = new RefusalLog(clock);
        this.sessions = new SessionTable(context.target(), context.maxConnections());
        this.logins = new PendingLogins(context.maxLogins(), clock);
        this.portals = open(context);
        this.pool = new BufferPool(context.bufferBytes());
        prepareMemory();
        for (TargetPortal portal : portals) {
            acceptors.add(Thread.ofPlatform().name("acceptor " + portal.datamover()).daemon()
                .unstarted(() -> accept(portal)));
        }
        this.watchdog = new PeriodicThread("connection-watchdog", context.clock(), WATCH_PERIOD, this::watch);
    }

    /**
     * Starts a server.
     *
     * @throws IOException if it cannot listen on the address; the message says why
     * @throws IllegalArgumentException for an invalid context
     */
    public static TargetServer launch(TargetContext context) throws IOException {
        TargetServer server = new TargetServer(context.conclude());
        server.acceptors.forEach(Thread::start);
        server.watchdog.start();
        return server;
    }

    private static List<TargetPortal> open(TargetContext context) throws IOException {
        List<TargetPortal> opened = new ArrayList<>();
        InetSocketAddress address = context.listen();
        try {
            for (TargetPortal.Opener opener : context.datamovers()) {
                opened.add(opener.open(address, context.target().name()));
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
                for (DataMemory memory : context.target().memories()) {
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
                accepted(portal.accept(), portal.datamover());
            } catch (ClosedChannelException e) {
                return;
            } catch (Exception | OutOfMemoryError e) {
                // For example, no descriptors or threads are left: the sessions go on, and the acceptor tries again later.
                LOG.error("cannot accept a connection: {}", e.toString());
                pauseAccepting();
            }
        }
    }

    private void pauseAccepting() {
        try {
            context.clock().sleep(ACCEPT_RETRY.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // Only close() ends an acceptor.
            LOG.debug("an acceptor was interrupted");
        }
    }

    private void accepted(IncomingConnection incoming, String datamoverName) throws IOException {
        InetAddress peer = incoming.peerAddress();
        if (!context.access().admits(peer)) {
            refusals.refused(peer, "its address is not among --allow-address");
            incoming.close();
            return;
        }
        PendingLogins.Login login = logins.admit(peer);
        if (login != null) {
            serve(incoming, datamoverName, login);
            return;
        }
        PendingLogins.Waiting refused = logins.await(new PendingLogins.Waiting(incoming, datamoverName));
        if (refused != null) {
            refusals.refused(refused.address(), "too many connections have not logged in");
            refused.incoming().close();
        }
    }

    private void serveWaiting() throws IOException {
        for (PendingLogins.Admitted next = logins.next(); next != null; next = logins.next()) {
            serve(next.waited().incoming(), next.waited().datamover(), next.login());
        }
    }

    private void serve(IncomingConnection incoming, String datamoverName, PendingLogins.Login login)
        throws IOException {
        TargetConnection connection;
        try {
            connection = new TargetConnection(this, incoming, context.parameters(datamoverName), login);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            logins.remove(login);
            incoming.close();
            throw new IOException("cannot serve a connection: " + e, e);
        }
        connections.add(connection);
        try {
            Thread receiver = context.threadFactory().newThread(connection);
            receiver.setName("receiver " + connection);
            receiver.start();
        } catch (RuntimeException | OutOfMemoryError e) {
            connections.remove(connection);
            logins.remove(login);
            connection.abandon();
            throw new IOException("cannot start a thread for a connection: " + e, e);
        }
        logins.served(login, () -> connection.closeFor("it has not logged in, and other connections wait"));
        if (closed) {
            connection.close();
        }
    }

    private void watch() {
        long nowNs = clock.tick();
        RuntimeException failure = null;
        for (TargetConnection connection : connections) {
            try {
                connection.tick(nowNs);
            } catch (RuntimeException | Error e) {
                // One connection must not keep the watchdog from the others.
                failure = new IllegalStateException("watching " + connection + " failed", e);
            }
        }
        try {
            serveWaiting();
        } catch (IOException e) {
            LOG.error("cannot serve a connection: {}", e.getMessage());
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Adds a session whose login is about to succeed. */
    Session establish(Session wanted) throws IOException {
        return sessions.establish(wanted);
    }

    /** A connection's login has succeeded. */
    void loggedIn(PendingLogins.Login login) {
        logins.remove(login);
    }

    /** The peer of a session is silent for longer than it may be; the session is about to be ended. */
    void silent(Session session, long silentNs) {
        sessions.silent(session, silentNs);
    }

    /** A connection has ended, and its session with it. */
    void ended(TargetConnection connection, PendingLogins.Login login, boolean loggedOut) {
        logins.remove(login);
        connections.remove(connection);
        Session session = connection.session();
        if (session != null) {
            sessions.ended(session, loggedOut);
        }
    }

    /** Does something to every session except one. */
    void forOtherSessions(TargetConnection but, Consumer<FullFeaturePhase> action) {
        connections.forEach(connection -> {
            FullFeaturePhase phase = connection.phase();
            if (phase != null && connection != but) {
                action.accept(phase);
            }
        });
    }

    TargetContext context() {
        return context;
    }

    BufferPool pool() {
        return pool;
    }

    /** The chunks that are reserved for new sessions and large writes, and not given to deeper queues. */
    int poolReserve() {
        int newSessions = Math.max(0, context.maxConnections() - sessions.count());
        return newSessions * context.initialCommands() + TaskSlot.MAX_CHUNKS;
    }

    /** The time in which this process was running. */
    NanoClock clock() {
        return clock;
    }

    RefusalLog refusals() {
        return refusals;
    }

    FailureDelays failureDelays() {
        return failureDelays;
    }

    /** The TCP address of the target, with the port that the system has chosen if 0 was requested. */
    public InetSocketAddress localAddress() {
        return portals.getLast().localAddress();
    }

    /** The portals, one for each datamover. */
    public List<TargetPortal> portals() {
        return portals;
    }

    /** The number of connections, including those that have not logged in. */
    public int connectionCount() {
        return connections.size();
    }

    /** The buffer memory that no session holds; all of it if there is no session. */
    public long freeBufferBytes() {
        return (long) pool.freeChunks() * BufferPool.CHUNK_BYTES;
    }

    /** Closes every connection, waits until its threads have ended, and gives the memory back. */
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
            watchdog.close();
            for (PendingLogins.Waiting one = logins.drain(); one != null; one = logins.drain()) {
                one.incoming().close();
            }
            connections.forEach(TargetConnection::close);
            for (TargetConnection connection : connections) {
                SessionTable.awaitEnd(connection);
            }
            pool.close();
        } catch (IOException e) {
            LOG.error("a connection did not end; its memory is not given back: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
