package io.modeldisk.platform.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DurationTextTest {
    @ParameterizedTest
    @CsvSource({"5s, 5000000000", "200ms, 200000000", "2min, 120000000000", "1.5h, 5400000000000", "10us, 10000",
        "7ns, 7",
        "5, 5000000000", "0.25, 250000000", "0, 0", "' 5 S ', 5000000000", "0.5s, 500000000"})
    void durationWithoutAUnitIsParsedInSeconds(String text, long ns) {
        assertThat(DurationText.parse(text)).isEqualTo(Duration.ofNanos(ns));
    }

    @Test
    void durationWithoutAUnitIsParsedInTheGivenDefaultUnit() {
        assertThat(DurationText.parse("40", "ms")).isEqualTo(Duration.ofMillis(40));
        assertThat(DurationText.parse("2s", "ms")).isEqualTo(Duration.ofSeconds(2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "-5s", "5x", "5 5", "1e3", "5sec", "5m", "PT5S", "NaN"})
    void errorOfAMalformedDurationShowsValidExamples(String text) {
        assertThatThrownBy(() -> DurationText.parse(text)).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("'" + text + "' is not a duration; write it like 5s, 200ms, 2min, or 5 for 5s");
    }

    @Test
    void durationOfMoreThan292YearsIsRefused() {
        assertThatThrownBy(() -> DurationText.parse("99999999999999h")).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("must be less than 292 years");
    }

    @ParameterizedTest
    @CsvSource({"5000000000, 5s", "200000000, 200ms", "600000000000, 10min", "1500000000, 1500ms", "0, 0s", "7, 7ns",
        "7200000000000, 2h"})
    void durationIsFormattedInTheLargestUnitWithAWholeNumber(long ns, String text) {
        assertThat(DurationText.format(Duration.ofNanos(ns))).isEqualTo(text);
    }
}
