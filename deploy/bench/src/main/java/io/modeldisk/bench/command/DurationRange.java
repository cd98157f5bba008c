package io.modeldisk.bench.command;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.DurationText;
import java.time.Duration;

/** Checks that the duration in an option is in its range. */
final class DurationRange {
    private DurationRange() {}

    /** Throws an {@code IllegalArgumentException} that names the option if the duration is out of range. */
    static void check(String option, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                PlainText.format("%s %s must be from %s to %s", option, DurationText.format(value),
                    DurationText.format(least), DurationText.format(most)));
        }
    }
}
