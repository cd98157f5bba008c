package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Test;

class RefusalLogTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("10.0.0.2");

    @Test
    void refusalsOfAnAddressAreLoggedOnceInTenSeconds() {
        ManualClock clock = new ManualClock();
        RefusalLog log = new RefusalLog(clock);
        assertThat(
            List.of(log.refused(ONE, "r"), log.refused(ONE, "r"), log.refused(OTHER, "r"), log.refused(ONE, "r")))
            .containsExactly(true, false, true, false);
        clock.advance(Duration.ofSeconds(10));
        assertThat(log.refused(ONE, "r")).isTrue();
    }

    @Test
    void textOfAPeerIsEscapedAndCutInTheLog() {
        List<String> lines = new CopyOnWriteArrayList<>();
        AbstractAppender appender = new AbstractAppender("lines", null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                lines.add(event.getMessage().getFormattedMessage());
            }
        };
        appender.start();
        Logger logger = (Logger) LogManager.getLogger(RefusalLog.class);
        logger.addAppender(appender);
        try {
            new RefusalLog(new ManualClock()).refused(ONE, "SessionType=x\nFAKE LINE" + "x".repeat(8192));
        } finally {
            logger.removeAppender(appender);
        }
        assertThat(lines).singleElement().asString().hasSizeLessThan(400).doesNotContain("\n")
            .startsWith("the connection from 10.0.0.1 was refused: SessionType=x\\u000AFAKE LINE");
    }
}
