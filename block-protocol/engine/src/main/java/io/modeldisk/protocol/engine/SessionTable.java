package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The sessions that have logged in. A nexus has at most one session: a new session replaces the old session (RFC 7143 section
 * 6.3.5). The number of sessions is limited. Notifies the target when sessions are established and closed. Thread-safe.
 */
final class SessionTable {
    private static final Logger LOG = LogManager.getLogger(SessionTable.class);
    /** The time within which a connection must release its resources after the target has closed the connection. */
    static final Duration END_TIMEOUT = Duration.ofSeconds(10);
    private static final int MAX_TSIH = 0xFFFF;

    private final Target target;
    private final int limit;
    private final Map<Nexus, Session> ofNexus = new HashMap<>();
    private final Set<Session> sessions = new HashSet<>();
    private final Set<Session> announced = new HashSet<>();
    private int lastTsih;

    SessionTable(Target target, int limit) {
        this.target = target;
        this.limit = limit;
    }

    /**
     * Adds a session whose login is about to succeed. If the same nexus has an old session, closes the connection of the old
     * session and waits until its resources are released.
     *
     * @param wanted the session with the TSIH that the initiator sent; the TSIH is 0 for a new session
     * @return the session with the TSIH that the target assigned
     * @throws LoginException if there are too many sessions, the nexus belongs to another user, the TSIH is unknown, or the login
     *     requests a second connection of a session
     */
    Session establish(Session wanted) throws IOException {
        Session old;
        Session session;
        synchronized (this) {
            old = wanted.discovery() ? null : ofNexus.get(wanted.nexus());
            session = wanted.withTsih(checkHandle(wanted, old) ? old.tsih() : newTsih());
            checkOwner(wanted, old);
            if (old == null && sessions.size() >= limit) {
                throw new LoginException(LoginStatus.OUT_OF_RESOURCES,
                    "the target already has its maximum of " + limit + " sessions; raise --max-sessions to allow more");
            }
            sessions.add(session);
            if (!session.discovery()) {
                ofNexus.put(session.nexus(), session);
            }
        }
        try {
            if (old != null) {
                LOG.info("a new session replaces the session of {}", old.connection());
                old.connection().close();
                awaitEnd(old.connection());
            }
            announce(session);
            return session;
        } catch (IOException | RuntimeException e) {
            ended(session, false);
            throw e;
        }
    }

    /**
     * Checks the TSIH of a login (RFC 7143 section 6.3.1). Returns true if the TSIH names the old session, or false if the TSIH
     * is 0, which requests a new session.
     */
    private static boolean checkHandle(Session wanted, Session old) throws LoginException {
        if (wanted.tsih() == 0) {
            return false;
        }
        if (old == null || old.tsih() != wanted.tsih()) {
            throw new LoginException(LoginStatus.SESSION_DOES_NOT_EXIST,
                "the login names the session with TSIH " + wanted.tsih()
                    + ", but the target has no such session of this initiator name and ISID");
        }
        if (old.cid() != wanted.cid()) {
            throw new LoginException(LoginStatus.TOO_MANY_CONNECTIONS,
                "CID " + wanted.cid() + " requests a second connection, but a session may have only one connection");
        }
        return true;
    }

    private static void checkOwner(Session wanted, Session old) throws LoginException {
        if (old != null && !Objects.equals(old.user(), wanted.user())) {
            throw new LoginException(LoginStatus.AUTHORIZATION_FAILURE, "user " + wanted.user()
                + " may not replace the session of user " + old.user()
                + ", although both logins have the same initiator name and ISID");
        }
    }

    private int newTsih() {
        do {
            lastTsih = lastTsih % MAX_TSIH + 1;
        } while (sessions.stream().anyMatch(session -> session.tsih() == lastTsih));
        return lastTsih;
    }

    private void announce(Session session) throws IOException {
        if (session.discovery()) {
            return;
        }
        synchronized (this) {
            announced.add(session);
        }
        target.nexusEstablished(session.nexus());
    }

    /**
     * Notifies the target that the peer of a session was silent for too long. The lock ensures that the target never gets this
     * notification after a new session of the same nexus is established. The leases of learners depend on this order.
     */
    synchronized void silent(Session session, long silentNs) {
        if (announced.contains(session)) {
            target.nexusSilent(session.nexus(), silentNs);
        }
    }

    /** Removes a session whose connection is closed, and notifies the target. */
    void ended(Session session, boolean loggedOut) {
        boolean wasAnnounced;
        synchronized (this) {
            if (!sessions.remove(session)) {
                return;
            }
            ofNexus.remove(session.nexus(), session);
            wasAnnounced = announced.remove(session);
        }
        if (wasAnnounced) {
            target.nexusLost(session.nexus(), loggedOut);
        }
    }

    synchronized int count() {
        return sessions.size();
    }

    /** Waits until a connection is closed and all its resources are released. */
    private static void awaitEnd(TargetConnection connection) throws IOException {
        try {
            if (!connection.awaitEnd(END_TIMEOUT)) {
                throw new IOException(
                    "the new session cannot replace the old session, because the old connection " + connection
                        + " did not close within " + END_TIMEOUT.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(
                "the thread was interrupted while it waited until connection " + connection + " is closed", e);
        }
    }
}
