package io.modeldisk.protocol.engine;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.Liveness;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.pdu.NopInPdu;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * One connection from its first byte to its last. Two threads serve it: the receiver runs each command to its end as its data
 * comes; the responder takes up those that had to wait, so that neither waits for the other.
 */
final class TargetConnection implements Runnable {
    private static final Logger LOG = LogManager.getLogger(TargetConnection.class);
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long MAX_PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** Room in the schedule for every slot twice (memory granted, resumed) and a ping. */
    private static final int SCHEDULE_FACTOR = 2;

    private final TargetServer server;
    private final TargetServer.Context context;
    private final CommandWindow window;
    private final TargetDatamover datamover;
    private final InetSocketAddress localAddress;
    private final InetAddress peerAddress;
    private final ArrayBlockingQueue<Object> schedule;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Object ping = new Object();
    private final Object stop = new Object();
    private final NopInPdu nopIn = new NopInPdu(Pdu.newHeader());
    private final long startedNanos = System.nanoTime();
    private final OperationalParameters wishes;
    private volatile Session session;
    private volatile FullFeaturePhase phase;
    private volatile boolean loggedIn;
    private volatile boolean closed;
    /** Since when the receiver has been waiting for the next PDU, if none has come. */
    private volatile long listeningSinceNanos = startedNanos;
    private boolean pinged;

    /** Serves a connection with these limits and wishes. */
    TargetConnection(TargetServer server, IncomingConnection incoming, OperationalParameters wishes)
        throws IOException {
        this.server = server;
        this.context = server.context();
        this.wishes = wishes;
        this.window = new CommandWindow(this, server.pool(), context.maxCommands(), server.poolReserve());
        this.datamover = incoming.open(window, context.maxCommands());
        this.localAddress = incoming.localAddress();
        this.peerAddress = incoming.peerAddress();
        this.schedule = new ArrayBlockingQueue<>(SCHEDULE_FACTOR * context.maxCommands() + 2);
    }

    @Override
    public void run() {
        Thread responder = null;
        try {
            if (!login()) {
                return;
            }
            responder = context.threadFactory().newThread(this::respond);
            responder.setName("responder " + datamover.peer());
            responder.start();
            while (!phase.isLoggedOut()) {
                listeningSinceNanos = System.nanoTime();
                datamover.receive(phase);
            }
        } catch (ProtocolException e) {
            LOG.warn("{} breaks the protocol and is disconnected: {}", datamover.peer(), e.getMessage());
            reject();
        } catch (LoginException e) {
            LOG.warn("login from {} refused: {}", datamover.peer(), e.getMessage());
        } catch (EOFException | ClosedChannelException e) {
            LOG.debug("{} is gone: {}", datamover.peer(), e.toString());
        } catch (IOException e) {
            LOG.info("connection with {} lost: {}", datamover.peer(), e.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("serving {} failed; the connection is closed", datamover.peer(), e);
        } finally {
            end(responder);
        }
    }

    /** Tells of a protocol error while the connection still stands (RFC 7143 section 7.8). */
    private void reject() {
        FullFeaturePhase current = phase;
        if (current != null) {
            current.rejectQuietly();
        }
    }

    private boolean login() throws IOException {
        TargetLogin login = new TargetLogin(this, datamover, window, context, wishes);
        login.run();
        datamover.enable(login.result());
        List<String> addresses = context.portals().targetAddresses(localAddress);
        FullFeaturePhase.Setup setup = new FullFeaturePhase.Setup(
            context.target(), datamover, window, server.pool(), login.result(), session.discovery(), addresses,
            session.cid(), NanoClock.SYSTEM);
        phase = new FullFeaturePhase(setup, this);
        loggedIn = true;
        server.loggedIn(this);
        LOG.info("{} logged in from {}{}{}", nexus().learner(), datamover.peer(),
            session.user() == null ? "" : " as user " + session.user(),
            session.discovery() ? " for discovery" : "");
        return !closed;
    }

    /** The login is about to succeed. */
    Session establish(Session wanted) throws IOException {
        session = server.establish(wanted);
        return session;
    }

    /** An authentication has failed: its answer waits, and with it this connection alone. */
    void delayRefusal() {
        long until = System.nanoTime()
            + TimeUnit.MILLISECONDS.toNanos(server.failureDelays().failedMillis(peerAddress));
        for (long left = until - System.nanoTime(); left > 0 && !closed; left = until - System.nanoTime()) {
            LockSupport.parkNanos(this, Math.min(left, MAX_PARK_NANOS));
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
        server.ended(this, phase != null && phase.isLoggedOut());
        ended.countDown();
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

    /** The responder's work: commands that may go on, and pings. */
    private void respond() {
        try {
            while (!closed) {
                Object next = schedule.take();
                if (next == stop) {
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
            LOG.debug("responding to {} ended: {}", datamover.peer(), e.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("responding to {} failed; the connection is closed", datamover.peer(), e);
        } finally {
            close();
        }
    }

    /** A task may go on: from any thread, without waiting. */
    void schedule(TaskSlot task) {
        if (!schedule.offer(task) && !closed) {
            throw new IllegalStateException("a task was scheduled more often than it can be");
        }
    }

    /** What the clock has to say, ten times a second. */
    void tick(long now) {
        if (!loggedIn) {
            closeIf(now - startedNanos > context.loginTimeoutSeconds() * SECOND_NANOS, "its login takes too long");
            return;
        }
        long limit = context.transferTimeoutSeconds() * SECOND_NANOS;
        Liveness liveness = datamover.liveness();
        long receiving = liveness.receivingSinceNs();
        long sending = liveness.sendingSinceNs();
        closeIf(receiving != 0 && now - receiving > limit, "it stopped in the middle of a PDU");
        closeIf(sending != 0 && now - sending > limit, "it stopped reading");
        long silent = silentNanos(now, liveness);
        long bound = Math.min(2 * context.pingIntervalSeconds() * SECOND_NANOS,
            context.target().silenceBoundNanos(nexus()));
        if (silent < bound / 2) {
            pinged = false;
        } else if (!pinged) {
            pinged = true;
            schedule.offer(ping);
        }
        if (silent > bound && !closed) {
            context.target().nexusSilent(nexus(), silent);
            closeFor("it does not answer");
        }
        phase.tick(now, limit, context.waitBoundMillis() * SECOND_NANOS / 1000);
    }

    /** For how long the peer could have been heard and was not: not while its own commands keep the receiver busy. */
    private long silentNanos(long now, Liveness liveness) {
        long receiving = liveness.receivingSinceNs();
        long sending = liveness.sendingSinceNs();
        long heard = liveness.lastReceivedNs();
        long since = sending != 0 ? sending : receiving != 0 ? receiving : listeningSinceNanos;
        if (sending == 0 && receiving == 0 && heard - since > 0) {
            return 0;
        }
        return now - (heard - since > 0 ? heard : since);
    }

    private void closeIf(boolean condition, String reason) {
        if (condition && !closed) {
            LOG.warn("{} is disconnected: {}", datamover.peer(), reason);
            close();
        }
    }

    /** Closes the connection because of something its peer did or did not do. */
    void closeFor(String reason) {
        closeIf(true, reason);
    }

    Nexus nexus() {
        return session == null ? null : session.nexus();
    }

    /** The session that has logged in, or null. */
    Session session() {
        return session;
    }

    InetAddress peerAddress() {
        return peerAddress;
    }

    long startedNanos() {
        return startedNanos;
    }

    FullFeaturePhase phase() {
        return phase;
    }

    /** Ends the connection, from any thread; {@link #awaitEnd} waits until nothing of it is left. */
    void close() {
        closed = true;
        datamover.close();
        window.connectionEnds();
    }

    /** Ends a connection that no thread has begun to serve. */
    void abandon() {
        close();
        datamover.release();
        ended.countDown();
    }

    boolean awaitEnd(long timeoutMillis) throws InterruptedException {
        return ended.await(timeoutMillis, TimeUnit.MILLISECONDS);
    }

    @Override
    public String toString() {
        return (session == null ? "(not logged in)" : session.nexus().learner()) + "@" + datamover.peer();
    }

    /** Does something to every session but this one. */
    void forOtherSessions(Consumer<FullFeaturePhase> action) {
        server.forOtherSessions(this, action);
    }
}
