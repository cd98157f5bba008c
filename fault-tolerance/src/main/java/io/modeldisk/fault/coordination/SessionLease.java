package io.modeldisk.fault.coordination;

import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A period in which the ephemeral znode of this process certainly exists. ZooKeeper keeps the znode for the session time-out
 * after the last request of the session. The lease is shorter: it ends four fifths of the time-out after this process has sent
 * the last request that was answered. Thread-safe.
 */
final class SessionLease {
    /**
     * The lease ends one fifth of the session time-out earlier than the session. In this time, the process stops serving. The
     * time also allows for clocks that differ in speed.
     */
    private static final int MARGIN_PART = 5;

    private final NanoClock clock;
    private final String znode;
    private final Runnable ended;
    /** The session in which the znode exists; null before the first session. */
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

    /** Begins or renews the lease after the answer to a request that was sent at {@code sentNs}. */
    void renew(long sentNs) {
        long timeoutNs = TimeUnit.MILLISECONDS.toNanos(session.getSessionTimeout());
        endNs = sentNs + timeoutNs - timeoutNs / MARGIN_PART;
    }

    boolean isValid() {
        return clock.nanoTime() - endNs < 0;
    }

    /** Sends ZooKeeper a request for the znode. Does not wait for the answer, which later renews or ends the lease. */
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
