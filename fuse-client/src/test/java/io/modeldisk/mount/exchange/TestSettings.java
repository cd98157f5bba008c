package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.time.NanoClock;
import java.time.Instant;

/** Default settings of an exchange, for tests that do not depend on them. */
public final class TestSettings {
    private TestSettings() {}

    /** Returns settings with adaptive pulls and the clock of the system. */
    public static ExchangeSettings defaults() {
        return new ExchangeSettings(PullPolicy.ADAPTIVE, OnRollback.FAIL,
            new IterationTrace(NanoClock.SYSTEM, Instant.now()));
    }
}
