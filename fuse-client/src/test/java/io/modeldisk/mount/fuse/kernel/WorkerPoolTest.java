package io.modeldisk.mount.fuse.kernel;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WorkerPoolTest {
    private final ManualClock clock = new ManualClock();
    private final AtomicInteger asked = new AtomicInteger();
    private final CountDownLatch answered = new CountDownLatch(1);

    private void ask() {
        asked.incrementAndGet();
        try {
            answered.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private CompletableFuture<Void> askUntil(BooleanSupplier condition, Duration limit) {
        long endNs = clock.nanoTime() + limit.toNanos();
        return CompletableFuture.runAsync(() -> WorkerPool.askUntil(condition, this::ask, clock, endNs));
    }

    @Test
    void askUntilUsesOnlyOneThreadForABlockedCall() throws Exception {
        AtomicInteger checks = new AtomicInteger();
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Void> asking = askUntil(() -> {
            checks.incrementAndGet();
            return ended.get();
        }, Duration.ofDays(1));
        await("the call was made", () -> asked.get() == 1);
        int before = checks.get();
        await("the condition was checked", () -> {
            clock.advance(Duration.ofMillis(5));
            return checks.get() >= before + 20;
        });
        assertThat(asked).hasValue(1);
        ended.set(true);
        clock.advance(Duration.ofMillis(5));
        asking.get(10, TimeUnit.SECONDS);
        answered.countDown();
    }

    @Test
    void askUntilRepeatsTheCallUntilTheConditionIsTrue() throws Exception {
        answered.countDown();
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Void> asking = askUntil(ended::get, Duration.ofDays(1));
        await("the call was made three times", () -> asked.get() >= 3);
        ended.set(true);
        clock.advance(Duration.ofMillis(5));
        asking.get(10, TimeUnit.SECONDS);
    }

    @Test
    void askUntilReturnsAtItsDeadline() throws Exception {
        CompletableFuture<Void> asking = askUntil(() -> false, Duration.ofSeconds(1));
        await("the call was made", () -> asked.get() == 1);
        clock.advance(Duration.ofSeconds(1));
        asking.get(10, TimeUnit.SECONDS);
        answered.countDown();
    }
}
