package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.PeerText;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.Liveness;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.pdu.AsyncMessagePdu;
import io.modeldisk.protocol.pdu.NopInPdu;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A connection with two threads. The receiver thread receives PDUs and runs each command whose data has arrived. The responder
 * thread runs the commands that had to wait, so a command that waits does not stop the receiver thread.
 */
final class TargetConnection implements Runnable {
    private static final Logger LOG = LogManager.getLogger(TargetConnection.class);

    /**
     * The number of schedule entries for each slot. A task can have two entries at a time: one because the task received memory,
     * and one because the task was resumed.
     */
    private static final int SCHEDULE_FACTOR = 2;

    private final TargetServer server;
    private final TargetContext context;
    private final CommandWindow window;
    private final TargetDatamover datamover;
    private final InetSocketAddress localAddress;
    private final InetAddress peerAddress;
    private final ArrayBlockingQueue<Object> schedule;
    private final PendingLogins.Login login;
    private final NanoClock clock;
    private final ScopedLock endLock = new ScopedLock();
    private final Condition ends = endLock.newCondition();
    private final Object ping = new Object();
    private final Object stop = new Object();
    private final Object farewell = new Object();
    private final NopInPdu nopIn = new NopInPdu(Pdu.newHeader());
    private final SilenceWatch silence = new SilenceWatch();
    private final long startedNs;
    private final OperationalParameters wishes;
    private volatile Session session;
    private volatile FullFeaturePhase phase;
    private volatile boolean loggedIn;
    private volatile boolean closed;
    /** True if a task could not be scheduled. This task would wait forever. */
    private volatile boolean overfull;
    /** True if all resources of the connection are released. Guarded by {@link #endLock}. */
    private boolean ended;
    /** The time at which the receiver thread began to wait for the next PDU. */
    private volatile long listeningSinceNs;

    /** Opens a connection. {@code wishes} are the parameters that the target offers in the login. */
    TargetConnection(
        TargetServer server, IncomingConnection incoming, OperationalParameters wishes, PendingLogins.Login login)
        throws IOException {
        this.server = server;
        this.context = server.context();
        this.wishes = wishes;
        this.login = login;
        this.clock = server.clock();
        this.startedNs = clock.nanoTime();
        this.listeningSinceNs = startedNs;
        this.window = new CommandWindow(this, server.pool(), server.devicePool(), context.maxCommands,
            TaskSlot.MAX_CHUNKS);
        this.datamover = incoming.open(window, context.maxCommands, clock);
        this.localAddress = incoming.localAddress();
        this.peerAddress = incoming.peerAddress();
        this.schedule = new ArrayBlockingQueue<>(SCHEDULE_FACTOR * context.maxCommands + 2);
    }

    @Override
    public void run() {
        Thread responder = null;
        try {
            if (!login()) {
                return;
            }
            responder = context.threadFactory.newThread(this::respond);
            responder.setName(ThreadName.RESPONDER.of(datamover.peer()));
            responder.start();
            while (!phase.isLoggedOut()) {
                listeningSinceNs = clock.nanoTime();
                datamover.receive(phase);
            }
        } catch (ProtocolException e) {
            if (loggedIn) {
                LOG.warn("{} is disconnected because of a protocol error: {}", this,
                    PeerText.printable(e.getMessage()));
                reject();
            } else {
                server.refusals().refused(peerAddress, e.getMessage());
            }
        } catch (LoginException e) {
            server.refusals().refused(peerAddress, "the login failed: " + e.logged());
        } catch (EOFException | ClosedChannelException e) {
            LOG.debug("the connection with {} is closed: {}", datamover.peer(), e.toString());
        } catch (IOException e) {
            LOG.info("the connection with {} is lost: {}", datamover.peer(), e.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("the receiver thread of {} failed, so the connection is closed", datamover.peer(), e);
        } finally {
            end(responder);
        }
    }

    /** Rejects the PDU that violated the protocol, before the connection is closed (RFC 7143 section 7.8). */
    private void reject() {
        FullFeaturePhase current = phase;
        if (current != null) {
            current.rejectQuietly();
        }
    }

    private boolean login() throws IOException {
        TargetLogin negotiation = new TargetLogin(this, datamover, window, server.target(), context, wishes);
        negotiation.run();
        OperationalParameters agreed = negotiation.result();
        datamover.enable(agreed);
        List<String> addresses = context.portals.targetAddresses(localAddress);
        FullFeaturePhase.Setup setup = new FullFeaturePhase.Setup(
            server.target(), server.portGroups(), context.portals.ownTag(), datamover, window, server.pool(), agreed,
            session.discovery(), addresses,
            session.cid(), clock);
        phase = new FullFeaturePhase(setup, this);
        loggedIn = true;
        server.loggedIn(login);
        LOG.info("{} logged in from {}{}{}", nexus().learner(), datamover.peer(),
            session.user() == null ? "" : " as user " + session.user(),
            session.discovery() ? " for discovery" : "");
        return !closed;
    }

    /** Registers the session of a login that is about to succeed. Returns the registered session. */
    Session establish(Session wanted) throws IOException {
        session = server.sessions().establish(wanted);
        return session;
    }

    /** Logs a command that was refused for lack of a right. */
    void denied(String reason) {
        server.denials().refused(peerAddress, reason);
    }

    String peerHost() {
        return peerAddress.getHostAddress();
    }

    void loginRequested() {
        login.requested();
    }

    /** Delays the response to a failed login. Only this connection waits. */
    void delayRefusal() {
        long delayNs = TimeUnit.MILLISECONDS.toNanos(server.failureDelays().failedMs(peerAddress));
        long untilNs = clock.nanoTime() + Math.min(delayNs, context.maxFailureDelay.toNanos());
        try (Held _ = endLock.hold()) {
            while (!closed && clock.nanoTime() - untilNs < 0) {
                clock.awaitUntil(ends, untilNs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void end(Thread responder) {
        closed = true;
        datamover.close();
        if (responder != null) {
            schedule.clear();
            schedule.offer(stop);
            join(responder);
        }
        if (phase != null) {
            phase.abandonAll();
        }
        datamover.release();
        window.close();
        server.ended(this, login, phase != null && phase.isLoggedOut());
        endedNow();
    }

    private static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs scheduled tasks and sends pings until the connection is closed. Called by the responder thread. */
    private void respond() {
        boolean closes = true;
        try {
            while (!closed) {
                Object next = schedule.take();
                if (next == stop) {
                    return;
                }
                if (next == farewell) {
                    datamover.sendControl(
                        new AsyncMessagePdu(Pdu.newHeader()).begin(AsyncMessagePdu.SESSION_DROPPED), null, true);
                    // The connection stays open, because a close before the peer has read the Asynchronous Message could
                    // discard this message. Meanwhile, the receiver thread receives and ignores commands.
                    closes = false;
                    return;
                }
                if (next == ping) {
                    nopIn.begin(Pdu.RESERVED_TAG, FullFeaturePhase.PING_TAG, 0);
                    datamover.sendControl(nopIn, null, false);
                } else {
                    phase.goOn((TaskSlot) next);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.debug("the responder thread of {} stopped: {}", datamover.peer(), e.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("the responder thread of {} failed, so the connection is closed", datamover.peer(), e);
        } finally {
            if (closes) {
                close();
            }
        }
    }

    /** Schedules a task for the responder thread. Can be called by any thread. Does not block, and throws no exception. */
    void schedule(TaskSlot task) {
        if (!schedule.offer(task)) {
            // All sessions might need the calling thread, so this method does not throw. The watchdog closes this connection.
            overfull = true;
        }
    }

    /** Enforces the timeouts. Called by the watchdog every 100 ms. */
    void tick(long nowNs) {
        if (closed) {
            return;
        }
        if (!loggedIn) {
            closeIf(nowNs - startedNs > context.loginTimeout.toNanos(),
                "the login took longer than " + DurationText.format(context.loginTimeout));
            return;
        }
        closeIf(overfull, "the schedule of the responder thread is full because of an error in modeldisk");
        long limitNs = context.transferTimeout.toNanos();
        Liveness liveness = datamover.liveness();
        long receiving = liveness.receivingSinceNs();
        long sending = liveness.sendingSinceNs();
        closeIf(receiving != 0 && nowNs - receiving > limitNs, "the peer stopped sending in the middle of a PDU");
        closeIf(sending != 0 && nowNs - sending > limitNs, "the peer stopped receiving data");
        watchSilence(SilenceWatch.silentNs(nowNs, liveness, listeningSinceNs));
        phase.tick(nowNs, limitNs, context.waitBound.toNanos());
    }

    private void watchSilence(long silentNs) {
        long boundNs = Math.min(2 * context.pingInterval.toNanos(), server.target().silenceBoundNs(nexus()));
        switch (silence.look(silentNs, boundNs)) {
            case PING -> schedule.offer(ping);
            case DISCONNECT -> {
                if (!closed) {
                    server.sessions().silent(session, silentNs);
                    closeFor("the peer did not respond to a ping");
                }
            }
            case NOTHING -> {
                // The peer has sent data or has already been pinged.
            }
        }
    }

    private void closeIf(boolean condition, String reason) {
        if (condition && !closed) {
            LOG.warn("{} is disconnected: {}", this, reason);
            close();
        }
    }

    /** Closes the connection and logs the reason. */
    void closeFor(String reason) {
        closeIf(true, reason);
    }

    Nexus nexus() {
        return session == null ? null : session.nexus();
    }

    /** Returns the session that has logged in, or null before the login. */
    Session session() {
        return session;
    }

    FullFeaturePhase phase() {
        return phase;
    }

    /** Closes the connection. Can be called by any thread. {@link #awaitEnd} waits until all resources are released. */
    void close() {
        closed = true;
        datamover.close();
        window.connectionEnds();
        endLock.lock();
        ends.signalAll();
        endLock.unlock();
    }

    /** Ignores all further commands of the initiator. Can be called by any thread. */
    void stopTaking() {
        window.stop();
    }

    /** True if the connection is closed, or if {@link CommandWindow#isQuiet} returns true. */
    boolean isQuiet() {
        return closed || window.isQuiet();
    }

    /**
     * Sends an Asynchronous Message, which announces that the target closes the session. Most initiators then close the
     * connection. This method does not wait for that, so the caller must call {@link #close} later. Can be called by any thread.
     */
    void sayFarewell() {
        if (!loggedIn || !schedule.offer(farewell)) {
            close();
        }
    }

    /** Closes a connection that no thread has begun to serve. */
    void abandon() {
        close();
        datamover.release();
        endedNow();
    }

    private void endedNow() {
        endLock.lock();
        ended = true;
        ends.signalAll();
        endLock.unlock();
    }

    /** Waits until all resources of the connection are released. Returns false if the wait takes longer than {@code bound}. */
    boolean awaitEnd(Duration bound) throws InterruptedException {
        // This method cannot use the server's clock, because the server's clock stops when the server is closed.
        NanoClock real = context.clock;
        long untilNs = real.nanoTime() + bound.toNanos();
        try (Held _ = endLock.hold()) {
            while (!ended && real.nanoTime() - untilNs < 0) {
                real.awaitUntil(ends, untilNs);
            }
            return ended;
        }
    }

    @Override
    public String toString() {
        return (session == null ? "(not logged in)" : session.nexus().learner()) + "@" + datamover.peer();
    }

    /** Runs an action for every session except the session of this connection. */
    void forOtherSessions(Consumer<FullFeaturePhase> action) {
        server.forOtherSessions(this, action);
    }
}
