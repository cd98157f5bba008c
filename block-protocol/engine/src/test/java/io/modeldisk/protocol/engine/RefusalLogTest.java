package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RefusalLogTest {
    @Test
    void refusalsAreLoggedOnceInAWhile() {
        AtomicLong clock = new AtomicLong();
        RefusalLog log = new RefusalLog(clock::get);
        assertThat(List.of(log.refused("a", "r"), log.refused("b", "r"), log.refused("c", "r")))
            .containsExactly(true, false, false);
        clock.addAndGet(10_000_000_000L);
        assertThat(log.refused("d", "r")).isTrue();
    }
}
