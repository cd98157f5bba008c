package io.modeldisk.bench.command;

import io.modeldisk.platform.units.DurationText;
import java.time.Duration;

/** Checks durations that options give. */
final class DurationRange {
    private DurationRange() {}

    /** Refuses a duration outside a range, and names the option. */
    static void check(String option, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                "%s %s must be from %s to %s".formatted(option, DurationText.format(value),
                    DurationText.format(least), DurationText.format(most)));
        }
    }
}
