package io.modeldisk.mount.exchange;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.MemoryModel;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class WeightsPullTest {
    private static final int SIZE = 1 << 20;
    private static final int PUSH_NS = 1000;

    private final ManualClock clock = new ManualClock();
    private final MemoryModel model = new MemoryModel(SIZE);
    private final DataMemory weights = DataMemory.allocate(SIZE);
    private final PushProgress progress = new PushProgress(SIZE);

    @AfterEach
    void close() {
        weights.close();
        model.close();
    }

    @Test
    void whatItWaitsForThePushIsNotItsOwn() throws Exception {
        progress.begin(1, PushProgress.Cut.FINE);
        WeightsPull pull = new WeightsPull(model, weights, SIZE, progress, new Cancellation(), clock::nanoTime);
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        Thread puller = Thread.ofPlatform().daemon().start(() -> ended.complete(run(pull)));
        int pieces = 0;
        for (long at = progress.take(); at >= 0; at = progress.take()) {
            awaitIdle(puller, pieces);
            pieces++;
            clock.advance(Duration.ofNanos(PUSH_NS));
            progress.pushed(at, progress.end(at) - at);
        }
        assertThat(ended.get(10, TimeUnit.SECONDS)).isTrue();
        assertThat(pull.busyNs()).isZero();
    }

    /** Waits until this many pieces were pulled and both pulling threads wait for more. */
    private void awaitIdle(Thread puller, int pieces) {
        await(pieces + " pieces are pulled and both threads wait",
            () -> model.pulls.get() >= pieces && !isRunning(puller) && Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("modeldisk-pull-beside") && !isRunning(thread)));
    }

    private static boolean isRunning(Thread thread) {
        return thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.BLOCKED;
    }

    @Test
    void aPullAloneIsBusyFromItsStartToItsEnd() {
        WeightsPull pull = new WeightsPull(model, weights, SIZE, progress, new Cancellation(),
            new AtomicLong()::incrementAndGet);
        assertThat(run(pull)).isTrue();
        assertThat(pull.busyNs()).isEqualTo(1);
    }

    private static boolean run(WeightsPull pull) {
        try {
            return pull.run();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
