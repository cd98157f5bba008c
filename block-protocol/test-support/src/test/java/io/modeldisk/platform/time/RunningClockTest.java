package io.modeldisk.platform.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RunningClockTest {
    private static final Duration LONGEST_STEP = Duration.ofSeconds(1);

    private final ManualClock real = new ManualClock();
    private final RunningClock running = new RunningClock(real, LONGEST_STEP);
    private final long startNs = running.nanoTime();

    private Duration elapsed() {
        return Duration.ofNanos(running.nanoTime() - startNs);
    }

    @Test
    void runningTimeFollowsTheRealClockWhileTicksOccur() {
        for (int i = 0; i < 30; i++) {
            real.advance(Duration.ofMillis(100));
            running.tick();
        }
        assertThat(elapsed()).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void runningTimeAdvancesBetweenTicks() {
        real.advance(Duration.ofMillis(300));
        assertThat(elapsed()).isEqualTo(Duration.ofMillis(300));
    }

    @Test
    void pauseOfFiveMinutesAdvancesTheRunningClockByOneSecond() {
        real.advance(Duration.ofMinutes(5));
        assertThat(elapsed()).isEqualTo(LONGEST_STEP);
        running.tick();
        assertThat(elapsed()).isEqualTo(LONGEST_STEP);
        real.advance(Duration.ofMillis(100));
        assertThat(elapsed()).isEqualTo(LONGEST_STEP.plusMillis(100));
    }

    @Test
    void sleepEndsOnlyWhenTheRunningClockReachesItsDeadline() throws InterruptedException {
        Thread sleeper = Thread.ofPlatform().daemon().start(() -> {
            try {
                running.sleepUntil(startNs + Duration.ofMillis(1500).toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        real.advance(Duration.ofMinutes(5));
        assertThat(sleeper.join(Duration.ofMillis(50))).isFalse();
        running.tick();
        real.advance(Duration.ofMillis(600));
        assertThat(sleeper.join(Duration.ofSeconds(20))).isTrue();
    }
}
