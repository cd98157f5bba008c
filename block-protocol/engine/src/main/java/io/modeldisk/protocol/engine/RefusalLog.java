package io.modeldisk.protocol.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Says that connections are refused, but not more often than every ten seconds, whoever knocks how often. Thread-safe. */
final class RefusalLog {
    private static final Logger LOG = LogManager.getLogger(RefusalLog.class);
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final LongSupplier nanoClock;
    private long saidNanos;
    private long unsaid;
    private boolean said;

    RefusalLog(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** One from this peer was refused. Answers whether that was said. */
    synchronized boolean refused(Object peer, String reason) {
        long now = nanoClock.getAsLong();
        if (said && now - saidNanos < PAUSE_NANOS) {
            unsaid++;
            return false;
        }
        LOG.warn("connection from {} refused: {}{}", peer, reason,
            unsaid == 0 ? "" : "; so were " + unsaid + " others before it");
        said = true;
        saidNanos = now;
        unsaid = 0;
        return true;
    }
}
