package io.modeldisk.protocol.engine;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The connections that have not logged in yet. They are few, so that who cannot log in takes neither memory nor connections from
 * those who can: past the limit the next one waits, and of those that have had their time the oldest goes, of the address
 * that has most. Thread-safe.
 */
final class PendingLogins {
    /** A login needs a few round trips: one that takes longer may have to make room. */
    private static final long GRACE_MILLIS = 1_000;

    private final int limit;
    private final List<TargetConnection> pending = new ArrayList<>();

    PendingLogins(int limit) {
        this.limit = limit;
    }

    /** Waits until there is room for one more, at most about a second. */
    synchronized void awaitRoom() {
        boolean interrupted = false;
        while (pending.size() >= limit && !interrupted) {
            long now = System.nanoTime();
            long oldest = TimeUnit.NANOSECONDS.toMillis(now - pending.getFirst().startedNanos());
            if (oldest >= GRACE_MILLIS) {
                TargetConnection least = mostGreedy(now);
                pending.remove(least);
                least.closeFor("it does not log in, and others wait to");
            } else {
                try {
                    wait(GRACE_MILLIS - oldest);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The oldest connection of the address that has most of them; the first is old enough. */
    private TargetConnection mostGreedy(long now) {
        TargetConnection found = null;
        long most = 0;
        for (TargetConnection connection : pending) {
            boolean old = TimeUnit.NANOSECONDS.toMillis(now - connection.startedNanos()) >= GRACE_MILLIS;
            long count = old ? countOf(connection.peerAddress()) : 0;
            if (count > most) {
                found = connection;
                most = count;
            }
        }
        return found;
    }

    private long countOf(InetAddress address) {
        return pending.stream().filter(connection -> connection.peerAddress().equals(address)).count();
    }

    synchronized void add(TargetConnection connection) {
        pending.add(connection);
    }

    /** It has logged in, or is gone. */
    synchronized void remove(TargetConnection connection) {
        pending.remove(connection);
        notifyAll();
    }
}
