package io.modeldisk.fault.coordination;

import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The time for which the ephemeral znode of this process certainly exists. ZooKeeper removes the znode at the earliest when the
 * session time-out has passed since it received a request of the session, so the lease ends at four fifths of this time after
 * the last request that was answered was sent. Thread-safe.
 */
final class SessionLease {
    /** The part of the session time-out that is left to stop serving, and for clocks that differ in speed. */
    private static final int MARGIN_PART = 5;

    private final NanoClock clock;
    private final String znode;
    private final Runnable ended;
    /** The session with the znode; null before the first. */
    private volatile ZooKeeper session;
    private volatile long endNs;
    private volatile boolean asking;

    /**
     * Creates a lease that is not valid yet.
     *
     * @param znode the path of the ephemeral znode
     * @param ended the action when ZooKeeper has answered that the session has ended; must not block
     */
    SessionLease(NanoClock clock, String znode, Runnable ended) {
        this.clock = clock;
        this.znode = znode;
        this.ended = ended;
        this.endNs = clock.nanoTime();
    }

    /** Sets the session in which the znode exists. */
    void in(ZooKeeper current) {
        session = current;
    }

    /** Begins or renews the lease after the answer to a request that was sent at this time. */
    void renew(long sentNs) {
        long timeoutNs = TimeUnit.MILLISECONDS.toNanos(session.getSessionTimeout());
        endNs = sentNs + timeoutNs - timeoutNs / MARGIN_PART;
    }

    boolean isValid() {
        return clock.nanoTime() - endNs < 0;
    }

    /** Asks ZooKeeper whether the znode still exists. Does not wait for the answer, which renews or ends the lease. */
    void ask() {
        if (asking) {
            return;
        }
        asking = true;
        ZooKeeper asked = session;
        long sentNs = clock.nanoTime();
        asked.exists(znode, false,
            (code, _, _, stat) -> answered(asked, KeeperException.Code.get(code), stat, sentNs), null);
    }

    private void answered(ZooKeeper asked, KeeperException.Code code, Stat stat, long sentNs) {
        asking = false;
        if (asked != session) {
            return;
        }
        if (code == KeeperException.Code.OK && stat.getEphemeralOwner() == asked.getSessionId()) {
            renew(sentNs);
        } else if (code != KeeperException.Code.CONNECTIONLOSS) {
            ended.run();
        }
    }
}
