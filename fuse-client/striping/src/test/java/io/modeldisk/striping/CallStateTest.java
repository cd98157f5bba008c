package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallStateTest {
    @ParameterizedTest
    @CsvSource({"ENDED, ATTACHED", "ATTACHED, DETACHED", "DETACHED, ATTACHED", "ATTACHED, ENDED"})
    void callChangesItsStateAlongTheArrowsOfTheDiagram(CallState from, CallState to) {
        assertThat(from.to(to)).isEqualTo(to);
    }

    @ParameterizedTest
    @CsvSource({"ENDED, ENDED", "ENDED, DETACHED", "ATTACHED, ATTACHED", "DETACHED, DETACHED", "DETACHED, ENDED"})
    void anyOtherChangeOfTheStateIsAnError(CallState from, CallState to) {
        assertThatThrownBy(() -> from.to(to)).isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("from " + from + " to " + to);
    }
}
