package io.modeldisk.protocol.access;

import java.io.Serial;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The delay of the response to a failed authentication. It doubles with each failure from one address, so that guessing is slow;
 * a login with the right secret is not delayed. Remembers a bounded number of addresses. Thread-safe.
 */
public final class FailureDelays {
    /** The first failure's delay. */
    public static final long FIRST_MILLIS = 100;

    /** The longest delay. */
    public static final long LONGEST_MILLIS = 1600;

    /** An address without a failure for this time starts with the first delay again. */
    public static final long FORGET_MILLIS = 60_000;

    private static final int MAX_ADDRESSES = 1024;

    private record Failures(long delayMillis, long lastNanos) {}

    private final LongSupplier nanoClock;
    private final Map<InetAddress, Failures> failures = new LinkedHashMap<>(16, 0.75f, true) {
        @Serial
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Failures> eldest) {
            return size() > MAX_ADDRESSES;
        }
    };

    /** Tells the time with this clock, as {@link System#nanoTime}. */
    public FailureDelays(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Notes a failed authentication; returns the delay of its response. */
    public synchronized long failedMillis(InetAddress address) {
        long now = nanoClock.getAsLong();
        Failures before = failures.get(address);
        boolean forgotten = before == null
            || now - before.lastNanos > TimeUnit.MILLISECONDS.toNanos(FORGET_MILLIS);
        long delay = forgotten ? FIRST_MILLIS : Math.min(2 * before.delayMillis, LONGEST_MILLIS);
        failures.put(address, new Failures(delay, now));
        return delay;
    }
}
