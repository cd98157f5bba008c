package io.modeldisk.platform.time;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PeriodicThreadTest {
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    private final ManualClock clock = new ManualClock();
    private final AtomicInteger runs = new AtomicInteger();

    private PeriodicThread start(Runnable task) {
        return new PeriodicThread(Thread.ofPlatform().daemon().name("periodic"), clock, PERIOD, task).start();
    }

    private void advanceUntilRun(int count) {
        await("the thread waits", () -> clock.waitingThreads() == 1);
        clock.advance(PERIOD);
        await("the task has run " + count + " times", () -> runs.get() == count);
    }

    @Test
    void taskRunsOncePerPeriod() {
        try (PeriodicThread _ = start(runs::incrementAndGet)) {
            for (int i = 1; i <= 3; i++) {
                advanceUntilRun(i);
            }
        }
    }

    @Test
    void taskRunsAtOnceAfterWake() {
        try (PeriodicThread thread = start(runs::incrementAndGet)) {
            thread.wake();
            await("the task has run without a period", () -> runs.get() == 1);
            advanceUntilRun(2);
        }
    }

    @Test
    void threadContinuesAfterAnErrorOfItsTask() {
        Runnable failing = () -> {
            runs.incrementAndGet();
            throw new OutOfMemoryError("simulated by this test");
        };
        try (PeriodicThread _ = start(failing)) {
            for (int i = 1; i <= 3; i++) {
                advanceUntilRun(i);
            }
        }
    }

    @Test
    void closeStopsTheThreadWithoutAnotherRun() {
        PeriodicThread thread = start(runs::incrementAndGet);
        await("the thread waits", () -> clock.waitingThreads() == 1);
        thread.close();
        clock.advance(PERIOD);
        assertThat(clock.waitingThreads()).isZero();
        assertThat(runs).hasValue(0);
    }

    @Test
    void closeWaitsUntilARunInProgressHasCompleted() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Void> closing = closeDuringARun(release);
        clock.advance(STOP_TIMEOUT.minusNanos(1));
        assertThat(closing).isNotDone();
        release.countDown();
        closing.get(10, TimeUnit.SECONDS);
    }

    @Test
    void closeWarnsAfterFiveSecondsAboutARunThatDoesNotComplete() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        List<String> warnings = new CopyOnWriteArrayList<>();
        Logger logger = (Logger) LogManager.getLogger(PeriodicThread.class);
        AbstractAppender appender = new AbstractAppender("warnings", null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                warnings.add(event.getMessage().getFormattedMessage());
            }
        };
        appender.start();
        logger.addAppender(appender);
        try {
            CompletableFuture<Void> closing = closeDuringARun(release);
            clock.advance(STOP_TIMEOUT);
            closing.get(10, TimeUnit.SECONDS);
            assertThat(warnings).containsExactly("the thread periodic is still running 5 s after it was closed");
        } finally {
            release.countDown();
            logger.removeAppender(appender);
        }
    }

    /** Closes a thread while its task runs until {@code release}. */
    private CompletableFuture<Void> closeDuringARun(CountDownLatch release) {
        PeriodicThread thread = start(() -> runUntil(release));
        advanceUntilRun(1);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(thread::close);
        await("close() waits", () -> clock.waitingThreads() == 1);
        return closing;
    }

    private void runUntil(CountDownLatch release) {
        runs.incrementAndGet();
        try {
            release.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
