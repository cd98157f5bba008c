package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.time.NanoClock;
import java.time.Instant;

/**
 * The settings of an exchange.
 *
 * @param pull the policy that decides when the overlap exchange pulls; the other schemes ignore this value
 * @param onRollback what the learner sees after a shard has gone back to earlier weights
 * @param trace the trace that records the phases; its clock is the clock of the exchange
 */
public record ExchangeSettings(PullPolicy pull, OnRollback onRollback, IterationTrace trace) {
    /** Creates settings with which the next fsync fails after a shard has gone back. */
    public ExchangeSettings(PullPolicy pull, IterationTrace trace) {
        this(pull, OnRollback.FAIL, trace);
    }

    /** Returns settings with adaptive pulls and the clock of the system. */
    public static ExchangeSettings defaults() {
        return new ExchangeSettings(PullPolicy.ADAPTIVE, systemTrace());
    }

    /** Returns an empty trace with the clock of the system. */
    public static IterationTrace systemTrace() {
        return new IterationTrace(NanoClock.SYSTEM, Instant.now());
    }
}
