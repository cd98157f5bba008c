package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.PeerText;
import io.modeldisk.platform.time.NanoClock;
import java.io.Serial;
import java.net.InetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Logs refused connections and logins, or refused commands, at most one line in ten seconds for each address. An initiator could
 * cause any number of them, over any number of connections. Thread-safe.
 */
final class RefusalLog {
    private static final Logger LOG = LogManager.getLogger(RefusalLog.class);
    private static final Duration PAUSE = Duration.ofSeconds(10);
    private static final int MAX_ADDRESSES = 256;

    private final NanoClock clock;
    private final String refused;
    private final Map<InetAddress, Refusals> refusals = new LinkedHashMap<>(16, 0.75f, true) {
        @Serial
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Refusals> eldest) {
            return size() > MAX_ADDRESSES;
        }
    };

    private static final class Refusals {
        private long loggedNs;
        private long unlogged;
    }

    /**
     * Creates a log.
     *
     * @param refused what is refused, such as {@code the connection}
     */
    RefusalLog(NanoClock clock, String refused) {
        this.clock = clock;
        this.refused = refused;
    }

    /**
     * Logs a refusal, or only counts it if a refusal of the address was logged in the last ten seconds.
     *
     * @param reason the reason, whose control characters are escaped in the log
     * @return whether the refusal was logged
     */
    synchronized boolean refused(InetAddress address, String reason) {
        long nowNs = clock.nanoTime();
        Refusals before = refusals.get(address);
        if (before != null && nowNs - before.loggedNs < PAUSE.toNanos()) {
            before.unlogged++;
            return false;
        }
        long unlogged = before == null ? 0 : before.unlogged;
        LOG.warn("{} from {} was refused: {}{}", refused, address.getHostAddress(), PeerText.printable(reason),
            unlogged == 0 ? "" : "; further refusals since the last message: " + unlogged);
        Refusals now = new Refusals();
        now.loggedNs = nowNs;
        refusals.put(address, now);
        return true;
    }
}
