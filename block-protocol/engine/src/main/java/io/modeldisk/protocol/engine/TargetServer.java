package io.modeldisk.protocol.engine;

import io.modeldisk.platform.threads.ThreadName;
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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An iSCSI target server (RFC 7143). Accepts connections to one target over TCP and other datamovers, and serves each connection
 * until the connection is closed. Thread-safe.
 *
 * <pre>{@code
 * try (TargetServer server = TargetServer.launch(target, new TargetContext().listen(address))) { … }
 * }</pre>
 */
public final class TargetServer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(TargetServer.class);
    private static final Duration WATCH_PERIOD = Duration.ofMillis(100);
    private static final Duration ACCEPT_RETRY = Duration.ofMillis(100);
    /**
     * The server counts as unresponsive if the watchdog has not completed a check of all connections within this time. Much
     * longer than the time from one check to the next.
     */
    private static final Duration RESPONSE_LIMIT = Duration.ofSeconds(10);
    /** The maximum wait of a closing server for initiators to close their connections after the Asynchronous Message. */
    private static final Duration FAREWELL = Duration.ofMillis(500);
    /** The maximum wait of a closing server for the commands in progress, before it sends the Asynchronous Messages. */
    private static final Duration LAST_COMMANDS = Duration.ofSeconds(2);

    private final Target target;
    private final TargetContext context;
    private final BufferPool pool;
    /** Null if the target has no device memory for data. */
    private final DevicePool devicePool;
    private final List<TargetPortal> portals;
    private final List<Thread> acceptors = new ArrayList<>();
    private final PeriodicThread watchdog;
    private final Set<TargetConnection> connections = ConcurrentHashMap.newKeySet();
    private final SessionTable sessions;
    private final TargetPortGroups portGroups;
    private final Runnable tellSessions = this::accessStateChanged;
    private final PendingLogins logins;
    private final RunningClock clock;
    private final FailureDelays failureDelays;
    private final RefusalLog refusals;
    private final RefusalLog denials;
    /** The time at which the connections were last checked. */
    private volatile long checkedNs;
    private volatile boolean closed;

    private TargetServer(Target target, TargetContext context) throws IOException {
        this.target = target;
        this.context = context;
        this.clock = new RunningClock(context.clock, RunningClock.DEFAULT_LONGEST_STEP);
        this.failureDelays = new FailureDelays(clock);
        this.refusals = new RefusalLog(clock, "the connection");
        this.denials = new RefusalLog(clock, "a command");
        this.sessions = new SessionTable(target, context.maxConnections, context.endTimeout);
        this.portGroups = target.portGroups();
        this.logins = new PendingLogins(context.maxLogins, clock);
        this.portals = open();
        this.pool = new BufferPool(context.bufferBytes,
            context.maxConnections * TargetContext.INITIAL_COMMANDS);
        this.devicePool = prepareMemory();
        for (TargetPortal portal : portals) {
            acceptors.add(ThreadName.ACCEPTOR.builder(portal.datamover())
                .unstarted(() -> accept(portal)));
        }
        this.watchdog = new PeriodicThread(ThreadName.CONNECTIONS.builder(), context.clock, WATCH_PERIOD,
            this::watch);
    }

    /**
     * Starts a server that serves a target.
     *
     * @throws IOException if the server cannot listen on the address; the message contains the reason
     * @throws IllegalArgumentException if the context is invalid
     */
    public static TargetServer launch(Target target, TargetContext context) throws IOException {
        TargetServer server = new TargetServer(target, context.conclude());
        server.portGroups.watch(server.tellSessions);
        server.checkedNs = context.clock.nanoTime();
        server.acceptors.forEach(Thread::start);
        server.watchdog.start();
        return server;
    }

    private List<TargetPortal> open() throws IOException {
        List<TargetPortal> opened = new ArrayList<>();
        InetSocketAddress address = context.listen;
        try {
            for (TargetPortal.Opener opener : context.datamovers) {
                TargetPortal portal = opener.open(address, target.name());
                if (portal != null) {
                    opened.add(portal);
                    address = portal.localAddress();
                }
            }
            return List.copyOf(opened);
        } catch (IOException | RuntimeException e) {
            opened.forEach(TargetPortal::close);
            throw e;
        }
    }

    private DevicePool prepareMemory() throws IOException {
        try {
            for (TargetPortal portal : portals) {
                portal.prepare(pool.memory());
                for (DataMemory memory : target.memories()) {
                    portal.prepare(memory);
                }
            }
            return prepareDevice(target.deviceWrites());
        } catch (IOException | RuntimeException e) {
            portals.forEach(TargetPortal::close);
            pool.close();
            throw e;
        }
    }

    private DevicePool prepareDevice(DeviceWrites device) throws IOException {
        if (device == null) {
            return null;
        }
        List<String> ways = new ArrayList<>();
        try {
            for (TargetPortal portal : portals) {
                ways.add(portal.prepareOnDevice(device.memory()));
            }
        } catch (IOException e) {
            device.refused(e.getMessage());
            return null;
        }
        ways.removeIf(Objects::isNull);
        if (ways.isEmpty()) {
            device.refused("no datamover of this server can access device memory");
            return null;
        }
        device.registered(String.join(", ", ways));
        return new DevicePool(device);
    }

    private void accept(TargetPortal portal) {
        while (!closed) {
            try {
                accepted(portal.accept(), portal.datamover());
            } catch (ClosedChannelException e) {
                return;
            } catch (Exception | OutOfMemoryError e) {
                // A possible cause is a lack of file descriptors. The sessions continue, and the acceptor tries again later.
                LOG.error("the target cannot accept a connection and tries again: {}", e.toString());
                pauseAccepting();
            }
        }
    }

    private void pauseAccepting() {
        try {
            context.clock.sleep(ACCEPT_RETRY.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // Only close() stops an acceptor thread.
            LOG.debug("an acceptor thread was interrupted and continues");
        }
    }

    private void accepted(IncomingConnection incoming, String datamoverName) throws IOException {
        InetAddress peer = incoming.peerAddress();
        if (!target.mayServe()) {
            incoming.close();
            return;
        }
        if (!context.access.admits(peer)) {
            refusals.refused(peer, "the address does not match --allow-address");
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
            refusals.refused(refused.address(), "too many connections wait for their login");
            refused.incoming().close();
        }
    }

    private void serveWaiting() {
        for (PendingLogins.Admitted next = logins.next(); next != null; next = logins.next()) {
            try {
                serve(next.waited().incoming(), next.waited().datamover(), next.login());
            } catch (IOException e) {
                LOG.error("a waiting connection was closed: {}", e.getMessage());
            }
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
            throw new IOException("the target cannot serve a connection: " + e, e);
        }
        connections.add(connection);
        try {
            Thread receiver = context.threadFactory.newThread(connection);
            receiver.setName(ThreadName.RECEIVER.of(connection));
            receiver.start();
        } catch (RuntimeException | OutOfMemoryError e) {
            connections.remove(connection);
            logins.remove(login);
            connection.abandon();
            throw new IOException("the target cannot start a thread for a connection: " + e, e);
        }
        logins.served(login, () -> connection.closeFor("the login is too slow while other connections wait"));
        if (closed) {
            connection.close();
        }
    }

    private void watch() {
        long nowNs = clock.tick();
        if (!target.mayServe()) {
            connections.forEach(TargetConnection::close);
        }
        RuntimeException failure = null;
        for (TargetConnection connection : connections) {
            try {
                connection.tick(nowNs);
            } catch (RuntimeException | Error e) {
                // A failure at one connection must not prevent the checks of the other connections.
                failure = new IllegalStateException("the watchdog failed to check the connection " + connection, e);
            }
        }
        serveWaiting();
        checkedNs = context.clock.nanoTime();
        if (failure != null) {
            throw failure;
        }
    }

    SessionTable sessions() {
        return sessions;
    }

    void loggedIn(PendingLogins.Login login) {
        logins.remove(login);
    }

    /** Removes a closed connection and its session. */
    void ended(TargetConnection connection, PendingLogins.Login login, boolean loggedOut) {
        logins.remove(login);
        connections.remove(connection);
        Session session = connection.session();
        if (session != null) {
            sessions.ended(session, loggedOut);
        }
    }

    /** Runs an action for every session except the session of {@code but}, or for every session if {@code but} is null. */
    void forOtherSessions(TargetConnection but, Consumer<FullFeaturePhase> action) {
        connections.forEach(connection -> {
            FullFeaturePhase phase = connection.phase();
            if (phase != null && connection != but) {
                action.accept(phase);
            }
        });
    }

    private void accessStateChanged() {
        forOtherSessions(null, FullFeaturePhase::accessStateChanged);
    }

    TargetPortGroups portGroups() {
        return portGroups;
    }

    Target target() {
        return target;
    }

    TargetContext context() {
        return context;
    }

    BufferPool pool() {
        return pool;
    }

    /** Returns the device memory for the data of writes; null if the target has none. */
    DevicePool devicePool() {
        return devicePool;
    }

    /** Returns the clock that counts only the time during which this process was running. */
    NanoClock clock() {
        return clock;
    }

    /** Returns the log of refused connections and logins. */
    RefusalLog refusals() {
        return refusals;
    }

    /** Returns the log of commands that were refused for lack of a right. */
    RefusalLog denials() {
        return denials;
    }

    FailureDelays failureDelays() {
        return failureDelays;
    }

    /** Returns the TCP address of the target. If port 0 was requested, the address has the port that the system chose. */
    public InetSocketAddress localAddress() {
        return portals.getLast().localAddress();
    }

    /** Returns the portals, one for each datamover. */
    public List<TargetPortal> portals() {
        return portals;
    }

    /** Returns the number of connections, including those that have not logged in. */
    public int connectionCount() {
        return connections.size();
    }

    public boolean isClosed() {
        return closed;
    }

    /** Returns whether the server accepts connections and has checked all connections in the last 10 s. */
    public boolean isResponsive() {
        return acceptors.stream().allMatch(Thread::isAlive)
            && context.clock.nanoTime() - checkedNs < RESPONSE_LIMIT.toNanos();
    }

    public long bufferBytes() {
        return pool.memory().bytes();
    }

    /** Returns the buffer memory that no session occupies, in bytes. */
    public long freeBufferBytes() {
        return (long) pool.freeChunks() * BufferPool.CHUNK_BYTES;
    }

    /**
     * Completes the commands in progress, and ignores later commands. Notifies every initiator that the server closes the session
     * (Asynchronous Message, RFC 7143 section 11.9). The ExpCmdSN of this message shows which commands were not executed. Then
     * closes every connection, waits until the threads of all connections have stopped, and frees the memory.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        portGroups.unwatch(tellSessions);
        try {
            portals.forEach(TargetPortal::close);
            for (Thread acceptor : acceptors) {
                acceptor.join();
            }
            watchdog.close();
            for (PendingLogins.Waiting one = logins.drain(); one != null; one = logins.drain()) {
                one.incoming().close();
            }
            connections.forEach(TargetConnection::stopTaking);
            awaitLastCommands();
            connections.forEach(TargetConnection::sayFarewell);
            awaitEnds(FAREWELL);
            connections.forEach(TargetConnection::close);
            List<TargetConnection> open = awaitEnds(SessionTable.END_TIMEOUT);
            if (open.isEmpty()) {
                pool.close();
            } else {
                LOG.error("the buffer memory is not freed because these connections did not close within {} s: {}",
                    SessionTable.END_TIMEOUT.toSeconds(), open);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitLastCommands() {
        NanoClock clock = context.clock;
        long untilNs = clock.nanoTime() + LAST_COMMANDS.toNanos();
        try {
            while (!connections.stream().allMatch(TargetConnection::isQuiet) && clock.nanoTime() - untilNs < 0) {
                clock.sleep(1, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until all connections are closed, for at most {@code bound}. Returns the connections that are still open. */
    private List<TargetConnection> awaitEnds(Duration bound) throws InterruptedException {
        NanoClock clock = context.clock;
        long untilNs = clock.nanoTime() + bound.toNanos();
        List<TargetConnection> open = new ArrayList<>();
        for (TargetConnection connection : connections) {
            if (!connection.awaitEnd(Duration.ofNanos(untilNs - clock.nanoTime()))) {
                open.add(connection);
            }
        }
        return open;
    }
}
