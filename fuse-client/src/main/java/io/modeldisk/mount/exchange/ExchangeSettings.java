package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.time.NanoClock;
import java.time.Instant;

/**
 * The settings of an exchange.
 *
 * @param pull when the overlap exchange pulls; the other schemes ignore it
 * @param trace where the phases are recorded; its clock is the clock of the exchange
 */
public record ExchangeSettings(PullPolicy pull, IterationTrace trace) {
    /** Adaptive pulls, on the system's clock. */
    public static ExchangeSettings defaults() {
        return new ExchangeSettings(PullPolicy.ADAPTIVE, systemTrace());
    }

    /** An empty trace on the system's clock. */
    public static IterationTrace systemTrace() {
        return new IterationTrace(NanoClock.SYSTEM, Instant.now());
    }
}
