package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import java.util.concurrent.TimeUnit;

/**
 * How an exchange goes about it.
 *
 * @param pull when the overlap exchange pulls; the others do not ask
 * @param trace where its phases are noted, and whose clock it uses
 */
public record ExchangeSettings(PullPolicy pull, IterationTrace trace) {
    /** Adaptive pulls, on the system's clock. */
    public static ExchangeSettings defaults() {
        return new ExchangeSettings(PullPolicy.ADAPTIVE, systemTrace());
    }

    /** An empty trace on the system's clock. */
    public static IterationTrace systemTrace() {
        return new IterationTrace(System::nanoTime,
            TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
    }
}
