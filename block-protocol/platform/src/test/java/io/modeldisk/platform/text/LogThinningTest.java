package io.modeldisk.platform.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LogThinningTest {
    @Test
    void onlyEventsWhoseNumberIsAPowerOfTwoAreLogged() {
        assertThat(LongStream.rangeClosed(1, 100).filter(LogThinning::isLogged)).containsExactly(1L, 2L, 4L, 8L, 16L,
            32L, 64L);
    }
}
