package io.modeldisk.protocol.engine;

import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
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
    private final Duration endTimeout;
    /** The sessions in login order. A session stays here until the target has been notified of the session's end. */
    private final Set<Session> sessions = new LinkedHashSet<>();
    private final Set<Session> announced = new HashSet<>();
    private int lastTsih;

    SessionTable(Target target, int limit, Duration endTimeout) {
        this.target = target;
        this.limit = limit;
        this.endTimeout = endTimeout;
    }

    /**
     * Adds a session whose login is about to succeed. If the same nexus has an old session, closes the connection of the old
     * session and waits until this connection has released its resources. A nexus can have several old sessions: an earlier login
     * of this nexus might still wait for the end of an old session, or might have waited in vain.
     *
     * @param wanted the session with the TSIH that the initiator sent; the TSIH is 0 for a new session
     * @return the session with the TSIH that the target assigned
     * @throws LoginException if the limit of all sessions or of this user's sessions is reached, if the nexus belongs to another
     *     user, if the TSIH is unknown, or if the login requests a second connection of a session
     */
    Session establish(Session wanted) throws IOException {
        List<Session> replaced;
        Session session;
        synchronized (this) {
            replaced = wanted.discovery() ? List.of() : sessionsOf(wanted.nexus());
            Session old = replaced.isEmpty() ? null : replaced.getLast();
            session = wanted.withTsih(checkHandle(wanted, old) ? old.tsih() : newTsih());
            checkOwner(wanted, old);
            if (old == null) {
                checkRoom(wanted);
            }
            sessions.add(session);
        }
        try {
            for (Session old : replaced) {
                LOG.info("a new session replaces the session of {}", old.connection());
                old.connection().close();
            }
            for (Session old : replaced) {
                awaitEnd(old.connection());
            }
            announce(session);
            return session;
        } catch (IOException | RuntimeException e) {
            ended(session, false);
            throw e;
        }
    }

    private List<Session> sessionsOf(Nexus nexus) {
        return sessions.stream().filter(session -> !session.discovery() && session.nexus().equals(nexus)).toList();
    }

    /**
     * Checks the TSIH of a login (RFC 7143 section 6.3.1). Returns true if the TSIH names the old session, or false if the TSIH
     * is 0, which requests a new session.
     */
    private static boolean checkHandle(Session wanted, Session old) throws LoginException {
        if (wanted.tsih() == 0) {
            return false;
        }
        LoginException.require(old != null && old.tsih() == wanted.tsih(), LoginStatus.SESSION_DOES_NOT_EXIST,
            "the login names the session with TSIH " + wanted.tsih()
                + ", but the target has no such session of this initiator name and ISID");
        LoginException.require(old.cid() == wanted.cid(), LoginStatus.TOO_MANY_CONNECTIONS,
            "CID " + wanted.cid() + " requests a second connection, but a session may have only one connection");
        return true;
    }

    private void checkOwner(Session wanted, Session old) throws LoginException {
        if (old != null && !Objects.equals(old.user(), wanted.user())) {
            throw reserved("user " + wanted.user() + " is not allowed to replace the session of user " + old.user()
                + ", although both logins have the same initiator name and ISID");
        }
        String refusal = wanted.discovery() ? null : target.loginRefusal(wanted.nexus());
        if (refusal != null) {
            throw reserved(refusal);
        }
    }

    private static LoginException reserved(String logged) {
        return new LoginException(LoginStatus.AUTHORIZATION_FAILURE, ChapSecrets.RESERVED, logged);
    }

    /**
     * Checks three limits: for all sessions, for the sessions of one user, and for the sessions of users that have neither of the
     * rights {@code learn} and {@code replicate}.
     */
    private void checkRoom(Session wanted) throws LoginException {
        LoginException.require(sessions.size() < limit, LoginStatus.OUT_OF_RESOURCES,
            "the target already has its maximum of " + limit + " sessions; raise --max-sessions to allow more");
        if (wanted.user() == null) {
            return;
        }
        int share = (limit + 1) / 2;
        LoginException.require(count(session -> wanted.user().equals(session.user())) < share,
            LoginStatus.OUT_OF_RESOURCES,
            "user " + wanted.user() + " already has " + share + " of the " + limit
                + " sessions, and one user can have at"
                + " most half of them; raise --max-sessions, or give processes different users in the secrets file");
        int open = limit - limit / 4;
        LoginException.require(isWorker(wanted) || count(session -> !isWorker(session)) < open,
            LoginStatus.OUT_OF_RESOURCES,
            "users without the right learn or replicate already have " + open + " of the " + limit
                + " sessions, and the rest is reserved for users with one of these rights; raise --max-sessions to"
                + " allow more");
    }

    /** Returns whether a session can belong to a learner or to the primary of a shard. Training stops without such sessions. */
    private static boolean isWorker(Session session) {
        return session.nexus().may(Right.LEARN) || session.nexus().may(Right.REPLICATE);
    }

    private long count(Predicate<Session> condition) {
        return sessions.stream().filter(condition).count();
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

    /**
     * Notifies the target that a session, whose connection is closed, has ended. Then removes the session. Until the removal, a
     * login of the nexus waits for this end, so the target is notified of the end before it is notified of a new session.
     */
    void ended(Session session, boolean loggedOut) {
        boolean wasAnnounced;
        synchronized (this) {
            wasAnnounced = announced.remove(session);
        }
        try {
            if (wasAnnounced) {
                target.nexusLost(session.nexus(), loggedOut);
            }
        } finally {
            synchronized (this) {
                sessions.remove(session);
            }
        }
    }

    /** Waits until a connection is closed and all its resources are released. */
    private void awaitEnd(TargetConnection connection) throws IOException {
        try {
            if (!connection.awaitEnd(endTimeout)) {
                throw new IOException(
                    "the new session cannot replace the old session, because the old connection " + connection
                        + " did not close within " + endTimeout.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited until connection " + connection + " is closed");
        }
    }
}
