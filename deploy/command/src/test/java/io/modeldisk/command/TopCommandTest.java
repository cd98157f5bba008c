package io.modeldisk.command;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.admin.overview.Overview;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class TopCommandTest {
    @Test
    @Timeout(60)
    void waitForASampleIsBoundedAndTellsTheTimeOfTheLast() {
        Overview overview = new Overview(NanoClock.SYSTEM, "a test", 1);

        assertThatThrownBy(() -> TopCommand.awaitNext(overview, NanoClock.SYSTEM, Duration.ofMillis(200)))
            .isInstanceOf(IOException.class).hasMessageMatching("no new sample for 200 ?ms; the last one is from 2.*Z");
    }
}
