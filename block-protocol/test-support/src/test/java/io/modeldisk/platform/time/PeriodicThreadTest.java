package io.modeldisk.platform.time;

import static io.modeldisk.test.Await.await;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PeriodicThreadTest {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final AtomicInteger runs = new AtomicInteger();

    private void advanceUntilRun(int count) {
        await("the thread waits", () -> clock.waitingThreads() == 1);
        clock.advance(PERIOD);
        await("run " + count, () -> runs.get() == count);
    }

    @Test
    void taskRunsOncePerPeriod() {
        try (PeriodicThread _ = new PeriodicThread("test", clock, PERIOD, runs::incrementAndGet).start()) {
            for (int i = 1; i <= 3; i++) {
                advanceUntilRun(i);
            }
        }
    }

    @Test
    void threadContinuesAfterAnErrorOfItsTask() {
        Runnable failing = () -> {
            runs.incrementAndGet();
            throw new OutOfMemoryError("simulated by this test");
        };
        try (PeriodicThread _ = new PeriodicThread("failing", clock, PERIOD, failing).start()) {
            for (int i = 1; i <= 3; i++) {
                advanceUntilRun(i);
            }
        }
    }

    @Test
    void closeStopsTheThreadWithoutAnotherRun() {
        PeriodicThread thread = new PeriodicThread("test", clock, PERIOD, runs::incrementAndGet).start();
        await("the thread waits", () -> clock.waitingThreads() == 1);
        thread.close();
        await("the thread no longer waits", () -> clock.waitingThreads() == 0);
    }
}
