package io.modeldisk.protocol.access;

import io.modeldisk.platform.time.NanoClock;
import java.io.Serial;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Calculates the delay of the response to a failed authentication. The delay doubles with each failure from the same address, so
 * that guessing a secret is slow. A login with the right secret is not delayed. The object stores the failures of a limited
 * number of addresses. Thread-safe.
 */
public final class FailureDelays {
    /** The delay after the first failure, in milliseconds. */
    public static final long FIRST_MS = 100;

    /** The longest delay, in milliseconds. */
    public static final long LONGEST_MS = 1600;

    /** The time without a failure after which an address starts again with the first delay, in milliseconds. */
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

    /** Creates an object without recorded failures. The clock measures the time since the last failure of an address. */
    public FailureDelays(NanoClock clock) {
        this.clock = clock;
    }

    /** Records a failed authentication from an address. Returns the delay of the response in milliseconds. */
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
