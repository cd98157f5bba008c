package io.modeldisk.protocol.engine;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IncomingConnection;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * The connections that have not logged in. They are few, and at most half of them come from one address, so that a peer that
 * cannot log in does not delay others. When there is no room, a new connection takes the place of one of its own address that
 * sends nothing; otherwise it waits, unserved. Of those that wait, the newest is served first: the peer of an old one has most
 * likely given up. Thread-safe; waits for nothing.
 */
final class PendingLogins {
    /** An initiator sends its login request at once: after this time a connection without one may have to make room. */
    static final Duration REQUEST_GRACE = Duration.ofMillis(100);

    /** A login needs a few round trips: after this time one that is not complete may have to make room. */
    static final Duration LOGIN_GRACE = Duration.ofSeconds(1);

    /** The most connections that wait; beyond it the oldest of the address with most of them is refused. */
    static final int MAX_WAITING = 256;

    private final int limit;
    private final int limitOfAddress;
    private final NanoClock clock;
    /** Both lists: oldest first. */
    private final List<Login> pending = new ArrayList<>();
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    /** A connection that is served and has not logged in. */
    static final class Login {
        private final InetAddress address;
        private final long sinceNs;
        private volatile boolean requested;
        private Runnable refuse;

        private Login(InetAddress address, long sinceNs) {
            this.address = address;
            this.sinceNs = sinceNs;
        }

        /** A login request has come. */
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

    /** A connection that has waited and may be served now. */
    record Admitted(Waiting waited, Login login) {}

    PendingLogins(int limit, NanoClock clock) {
        this.limit = limit;
        this.limitOfAddress = (limit + 1) / 2;
        this.clock = clock;
    }

    /** Returns a place for a connection from an address; null if there is none now. */
    synchronized Login admit(InetAddress address) {
        if (!makeRoom(address)) {
            return null;
        }
        Login login = new Login(address, clock.nanoTime());
        pending.add(login);
        return login;
    }

    /** Sets how to close a connection when another one takes its place. */
    synchronized void served(Login login, Runnable refuse) {
        login.refuse = refuse;
    }

    /** The connection has logged in, or has ended. */
    synchronized void remove(Login login) {
        pending.remove(login);
    }

    /** Lets a connection wait. Returns the connection to be refused instead, or null. */
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

    /** Returns the newest waiting connection for which there is room; null if there is none. */
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

    /** Takes out a connection that waits, to be closed; null if none does. */
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

    private static InetAddress mostFrequent(List<InetAddress> addresses) {
        InetAddress most = null;
        long count = 0;
        for (InetAddress address : addresses) {
            long its = addresses.stream().filter(address::equals).count();
            if (its > count) {
                most = address;
                count = its;
            }
        }
        return most;
    }
}
