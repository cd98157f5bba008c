package io.modeldisk.protocol.access;

import io.modeldisk.platform.time.NanoClock;
import java.io.Serial;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The delay of the response to a failed authentication. It doubles with each failure from one address, so that guessing is slow;
 * a login with the right secret is not delayed. Remembers a bounded number of addresses. Thread-safe.
 */
public final class FailureDelays {
    /** The first failure's delay. */
    public static final long FIRST_MS = 100;

    /** The longest delay. */
    public static final long LONGEST_MS = 1600;

    /** An address without a failure for this time starts with the first delay again. */
    public static final long FORGET_MS = 60_000;

    private static final int MAX_ADDRESSES = 1024;

    private record Failures(long delayMs, long lastNs) {}

    private final NanoClock clock;
    private final Map<InetAddress, Failures> failures = new LinkedHashMap<>(16, 0.75f, true) {
        @Serial
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Failures> eldest) {
            return size() > MAX_ADDRESSES;
        }
    };

    /** No failures yet, by this clock. */
    public FailureDelays(NanoClock clock) {
        this.clock = clock;
    }

    /** Notes a failed authentication; returns the delay of its response. */
    public synchronized long failedMs(InetAddress address) {
        long nowNs = clock.nanoTime();
        Failures before = failures.get(address);
        boolean forgotten = before == null
            || nowNs - before.lastNs > TimeUnit.MILLISECONDS.toNanos(FORGET_MS);
        long delay = forgotten ? FIRST_MS : Math.min(2 * before.delayMs, LONGEST_MS);
        failures.put(address, new Failures(delay, nowNs));
        return delay;
    }
}
