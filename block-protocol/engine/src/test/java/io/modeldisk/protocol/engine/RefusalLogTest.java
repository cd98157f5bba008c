package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusalLogTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("10.0.0.2");

    @Test
    void refusalsOfAnAddressAreLoggedOnceInTenSeconds() {
        ManualClock clock = new ManualClock();
        RefusalLog log = new RefusalLog(clock, "the connection");
        assertThat(
            List.of(log.refused(ONE, "r"), log.refused(ONE, "r"), log.refused(OTHER, "r"), log.refused(ONE, "r")))
            .containsExactly(true, false, true, false);
        clock.advance(Duration.ofSeconds(10));
        assertThat(log.refused(ONE, "r")).isTrue();
    }

    @Test
    void textOfAPeerIsEscapedAndCutInTheLog() {
        try (LogLines log = new LogLines(RefusalLog.class)) {
            new RefusalLog(new ManualClock(), "the connection").refused(ONE,
                "SessionType=x\nFAKE LINE" + "x".repeat(8192));
            assertThat(log.lines()).singleElement().asString().hasSizeLessThan(400).doesNotContain("\n")
                .startsWith("the connection from 10.0.0.1 was refused: SessionType=x\\u000AFAKE LINE");
        }
    }
}
