package io.modeldisk.protocol.engine;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IncomingConnection;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * The connections that have not logged in. Their number is limited. One address can have at most half of the maximum number, so
 * peers that do not log in cannot block peers with other addresses.
 *
 * <p>When a limit is reached, a new connection replaces a connection whose login is too slow, or waits if no login is too slow.
 * The newest waiting connection is served first, because the older peers have probably given up. Thread-safe; no method blocks.
 */
final class PendingLogins {
    /** The time after which another connection can replace a connection that has sent no Login Request. */
    static final Duration REQUEST_GRACE = Duration.ofMillis(100);

    /** The time after which another connection can replace a connection whose login is not complete. */
    static final Duration LOGIN_GRACE = Duration.ofSeconds(1);

    /**
     * The maximum number of waiting connections. If more connections wait, the target selects the address with the most
     * waiting connections, and refuses the oldest waiting connection of this address.
     */
    static final int MAX_WAITING = 256;

    private final int limit;
    private final int limitOfAddress;
    private final NanoClock clock;
    /** The connections that are served but have not logged in, oldest first. */
    private final List<Login> pending = new ArrayList<>();
    /** The connections that wait to be served, oldest first. */
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    /** A connection that is served but has not logged in. */
    static final class Login {
        private final InetAddress address;
        private final long sinceNs;
        private volatile boolean requested;
        private Runnable refuse;

        private Login(InetAddress address, long sinceNs) {
            this.address = address;
            this.sinceNs = sinceNs;
        }

        /** Records that the connection has sent a Login Request. */
        void requested() {
            requested = true;
        }
    }

    /** A connection that waits to be served. */
    record Waiting(IncomingConnection incoming, String datamover) {
        InetAddress address() {
            return incoming.peerAddress();
        }
    }

    /** A connection that has waited and must be served now. */
    record Admitted(Waiting waited, Login login) {}

    PendingLogins(int limit, NanoClock clock) {
        this.limit = limit;
        this.limitOfAddress = (limit + 1) / 2;
        this.clock = clock;
    }

    /** Admits a connection from an address. Returns null if the connection must wait because of a limit. */
    synchronized Login admit(InetAddress address) {
        if (!makeRoom(address)) {
            return null;
        }
        Login login = new Login(address, clock.nanoTime());
        pending.add(login);
        return login;
    }

    /** Sets the action that closes a login's connection. The action runs if another connection replaces this one. */
    synchronized void served(Login login, Runnable refuse) {
        login.refuse = refuse;
    }

    /** Removes a connection that has logged in or is closed. */
    synchronized void remove(Login login) {
        pending.remove(login);
    }

    /** Adds a waiting connection. If too many connections wait, returns the connection that must be refused, otherwise null. */
    synchronized Waiting await(Waiting incoming) {
        waiting.add(incoming);
        if (waiting.size() <= MAX_WAITING) {
            return null;
        }
        InetAddress most = mostFrequent(waiting.stream().map(Waiting::address).toList());
        Waiting oldest = waiting.stream().filter(one -> one.address().equals(most)).findFirst().orElseThrow();
        waiting.remove(oldest);
        return oldest;
    }

    /** Admits the newest waiting connection that the limits permit. Returns null if there is no such connection. */
    synchronized Admitted next() {
        for (Iterator<Waiting> newest = waiting.descendingIterator(); newest.hasNext();) {
            Waiting candidate = newest.next();
            Login login = admit(candidate.address());
            if (login != null) {
                newest.remove();
                return new Admitted(candidate, login);
            }
        }
        return null;
    }

    /** Removes a waiting connection so that the caller can close it. Returns null if no connection waits. */
    synchronized Waiting drain() {
        return waiting.poll();
    }

    private boolean makeRoom(InetAddress address) {
        long ofAddress = pending.stream().filter(login -> login.address.equals(address)).count();
        if (ofAddress < limitOfAddress && pending.size() < limit) {
            return true;
        }
        Login victim = victim(
            ofAddress < limitOfAddress ? mostFrequent(pending.stream().map(login -> login.address).toList()) : address);
        if (victim == null) {
            return false;
        }
        pending.remove(victim);
        victim.refuse.run();
        return true;
    }

    private Login victim(InetAddress address) {
        long nowNs = clock.nanoTime();
        Login late = null;
        for (Login login : pending) {
            long ageNs = nowNs - login.sinceNs;
            if (!login.address.equals(address) || login.refuse == null) {
                continue;
            }
            if (!login.requested && ageNs >= REQUEST_GRACE.toNanos()) {
                return login;
            }
            if (late == null && ageNs >= LOGIN_GRACE.toNanos()) {
                late = login;
            }
        }
        return late;
    }

    /** Returns the address that occurs most often in a list. If several occur equally often, returns the first of them. */
    private static InetAddress mostFrequent(List<InetAddress> addresses) {
        return addresses.stream().max(Comparator.comparingInt(address -> Collections.frequency(addresses, address)))
            .orElseThrow();
    }
}
