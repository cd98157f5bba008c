package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusalLogTest {
    @Test
    void refusalsWithinTenSecondsAreLoggedOnce() {
        ManualClock clock = new ManualClock();
        RefusalLog log = new RefusalLog(clock::nanoTime);
        assertThat(List.of(log.refused("a", "r"), log.refused("b", "r"), log.refused("c", "r")))
            .containsExactly(true, false, false);
        clock.advance(Duration.ofSeconds(10));
        assertThat(log.refused("d", "r")).isTrue();
    }
}
