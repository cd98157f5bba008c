package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeRequest;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.function.IoConsumer;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.test.Await;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class SyncExchangeTest extends ExchangeFixture<Exchange> {
    private static final int SIZE = 3 * (1 << 20) + 20;

    @BeforeEach
    void join() throws IOException {
        model = new MemoryModel(SIZE);
        exchange = ExchangeScheme.SYNC.create(model, TestSettings.defaults());
        model.fill(5);
        exchange.prepare(true, Cancellation.NONE);
    }

    @Test
    void hangingPushOfAFormerLearnerBlocksNoReaderAndLeaksNoMemory() throws Exception {
        ManualClock clock = new ManualClock();
        List<DataMemory> allocated = new CopyOnWriteArrayList<>();
        try (Exchange hanging = ExchangeScheme.SYNC.create(model, new ExchangeSettings(PullPolicy.ADAPTIVE,
            OnRollback.FAIL, new IterationTrace(clock, Instant.EPOCH), (name, of) -> {
                DataMemory memory = of.allocate(of.trainBytes());
                allocated.add(memory);
                return memory;
            }))) {
            hanging.prepare(true, Cancellation.NONE);
            hanging.write(0, BLOCK, request.with(1, BLOCK));
            model.pushesHang(true);
            Cancellation killed = new Cancellation();
            CompletableFuture<Void> fsync = CompletableFuture
                .runAsync(() -> assertThatThrownBy(() -> hanging.synchronize(killed)).isInstanceOf(IOException.class));
            Await.await("the push hangs", () -> model.waiting.get() == 1);
            killed.cancel();
            fsync.get();
            CompletableFuture<Void> closed = CompletableFuture.runAsync(hanging::abandon);
            Await.await("the learner is gone", () -> {
                clock.advance(Duration.ofSeconds(1));
                return closed.isDone();
            });
            model.pushesHang(false);
            hanging.read(BLOCK, 1, request);
            assertThat(request.answer).containsExactly(5);
            Await.await("the memory of the learner is freed",
                () -> allocated.stream().limit(2).noneMatch(memory -> memory.slab(0).scope().isAlive()));
        }
    }

    @Test
    void roundOfTheLearnerChangesOnlyWhenAnFsyncSucceeds() throws IOException {
        assertThat(exchange.round()).isEqualTo(1);
        write(0);
        assertThat(exchange.round()).isEqualTo(1);
        fsync();
        assertThat(exchange.round()).isEqualTo(2);
        fsync();
        assertThat(exchange.round()).isEqualTo(2);
        write(0);
        model.failPushAfter(0);
        assertThatThrownBy(this::fsync).isInstanceOf(IOException.class);
        assertThat(exchange.round()).isEqualTo(2);
        fsync();
        assertThat(exchange.round()).isEqualTo(3);
        exchange.abandon();
        assertThat(exchange.round()).isZero();
    }

    @Test
    void fsyncAfterAnInterruptedReadPushesTheGradientWrittenBeforeTheRead() throws Exception {
        exchange.read(0, 1, request);
        model.failPullAfter(0);
        assertThatThrownBy(this::fsync).isInstanceOf(IOException.class);
        write(0);
        model.pullsWait(true);
        try (FakeRequest interrupted = new FakeRequest()) {
            CompletableFuture<Void> read = CompletableFuture.runAsync(
                () -> assertThatThrownBy(() -> exchange.read(0, 1, interrupted))
                    .isInstanceOf(CancelledException.class));
            Await.await("the read waits", () -> model.waiting.get() > 0);
            interrupted.cancellation().cancel();
            read.get();
        }
        model.pullsWait(false);
        fsync();
        assertThat(model.weight(0)).isEqualTo((byte) 6);
    }

    @Test
    void gradientIsNotPushedBeforeFsync() throws IOException {
        write(0);
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void fsyncPushesEachDirtyRangeOnceAndPullsTheResult() throws IOException {
        write(0);
        write(BLOCK);
        exchange.write(1 << 20, BLOCK, request.with(2, BLOCK));
        fsync();

        assertThat(model.pushes).containsExactlyInAnyOrder("0+8192", (1 << 20) + "+4096");
        assertThat(model.calls).containsExactly("synchronize");
        assertThat(read(1 << 20)).isEqualTo(7);
        assertThat(exchange.counters().iterations.sum()).isEqualTo(1);
        assertThat(exchange.counters().pushedBytes.sum()).isEqualTo(3 * BLOCK);
    }

    @Test
    void unwrittenBytesOfADirtyBlockArePushedAsZeros() throws IOException {
        exchange.write(BLOCK + 10, 4, request.with(3, 4));
        fsync();

        assertThat(model.pushes).containsExactly("4096+4096");
        assertThat(model.weight(BLOCK + 9)).isEqualTo((byte) 5);
        assertThat(model.weight(BLOCK + 10)).isEqualTo((byte) 8);
        assertThat(model.weight(BLOCK + 14)).isEqualTo((byte) 5);
    }

    @Test
    void fsyncWithoutAGradientOnlyPullsWeights() throws IOException {
        model.fill(9);
        fsync();

        assertThat(read(SIZE - 1)).isEqualTo(9);
        assertThat(model.pushes).isEmpty();
        assertThat(model.calls).isEmpty();
        assertThat(exchange.counters().iterations.sum()).isZero();
    }

    @Test
    void closeWithoutFsyncDiscardsTheGradient() throws IOException {
        write(0);
        exchange.abandon();
        exchange.prepare(true, Cancellation.NONE);
        exchange.write(10, 1, request.with(1, 1));
        fsync();

        assertThat(model.pushes).containsExactly("0+4096");
        assertThat(model.weight(9)).isEqualTo((byte) 5);
        assertThat(model.weight(10)).isEqualTo((byte) 6);
    }

    @Test
    void fsyncAfterAFailedPushPushesOnlyTheRemainingBlocks() throws IOException {
        write(0);
        exchange.write(2 * BLOCK, BLOCK, request.with(1, BLOCK));
        exchange.write(4 * BLOCK, BLOCK, request.with(1, BLOCK));
        model.failPushAfter(1);

        assertThatThrownBy(this::fsync).hasMessageContaining("shard 0");
        assertThat(exchange.counters().lastError()).contains("shard 0");
        fsync();

        assertThat(model.pushes).containsExactly("0+4096", "8192+4096", "16384+4096");
        assertThat(model.calls).containsExactly("synchronize");
    }

    @Test
    void readAfterAFailedPullPullsAgain() throws IOException {
        awaitPulls(1);
        model.fill(9);
        model.failPullAfter(0);
        assertThatThrownBy(this::fsync).hasMessageContaining("shard 0");
        assertThat(read(0)).isEqualTo(9);
        assertThat(read(SIZE - 1)).isEqualTo(9);
    }

    @Test
    void readAfterAFailedPushReturnsTheWeightsOfTheLastPull() throws IOException {
        awaitPulls(1);
        write(0);
        model.failPushAfter(0);
        assertThatThrownBy(this::fsync).hasMessageContaining("shard 0");
        model.fill(9);
        assertThat(read(0)).isEqualTo(5);
    }

    @Test
    void firstReadWaitsForThePullThatTheOpenStarted() throws Exception {
        exchange.abandon();
        model.pullsWait(true);
        exchange.prepare(true, Cancellation.NONE);
        model.fill(6);
        CompletableFuture<Void> read = start(Cancellation.NONE, cancellation -> read(0));
        Await.await("the pull waits", () -> model.waiting.get() == 1);
        assertThat(read).isNotDone();
        model.pullsWait(false);
        read.get(10, TimeUnit.SECONDS);
        assertThat(request.answer).containsExactly(6);
    }

    @Test
    void fsyncInterruptedEvery20MsCompletesDespiteAPullOf100Ms() throws Exception {
        awaitPulls(1);
        ManualClock clock = new ManualClock();
        model.pullsTake(Duration.ofMillis(100), clock);
        write(0);
        for (int interrupts = 1; interrupts <= 4; interrupts++) {
            interruptAfter20Ms(clock, cancellation -> exchange.synchronize(cancellation));
        }
        CompletableFuture<Void> last = start(Cancellation.NONE, cancellation -> exchange.synchronize(cancellation));
        clock.advance(Duration.ofMillis(20));
        last.get(10, TimeUnit.SECONDS);
        assertThat(model.pushes).containsExactly("0+4096");
        assertThat(model.pulls).hasValue(2);
        assertThat(exchange.counters().iterations.sum()).isEqualTo(1);
        assertThat(read(0)).isEqualTo(6);
    }

    @Test
    void readInterruptedEvery20MsCompletesDespiteAPullOf100Ms() throws Exception {
        exchange.abandon();
        ManualClock clock = new ManualClock();
        model.pullsTake(Duration.ofMillis(100), clock);
        model.pulls.set(0);
        exchange.prepare(false, Cancellation.NONE);
        for (int interrupts = 1; interrupts <= 4; interrupts++) {
            interruptAfter20Ms(clock, cancellation -> exchange.read(0, 1, new FakeRequest(cancellation)));
        }
        CompletableFuture<Void> last = start(Cancellation.NONE, cancellation -> read(0));
        clock.advance(Duration.ofMillis(20));
        last.get(10, TimeUnit.SECONDS);
        assertThat(model.pulls).hasValue(1);
    }

    /** Starts a call that waits for the shards, interrupts it after 20 ms, and checks that it fails. */
    private void interruptAfter20Ms(ManualClock clock, IoConsumer<Cancellation> request) throws Exception {
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> call = start(cancellation, request);
        Await.await("the pull waits", () -> model.waiting.get() == 1);
        clock.advance(Duration.ofMillis(20));
        cancellation.cancel();
        assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS)).hasMessageContaining("interrupted");
    }

    private static CompletableFuture<Void> start(Cancellation cancellation, IoConsumer<Cancellation> request) {
        return CompletableFuture.runAsync(() -> {
            try {
                request.accept(cancellation);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Test
    void newGradientIsRefusedUntilTheGradientOfAnInterruptedFsyncIsDropped() throws IOException {
        write(0);
        model.pullsWait(true);
        interruptFsync();
        model.pullsWait(false);
        write(BLOCK);
        assertThatThrownBy(this::fsync).hasMessageContaining("gradient has changed");
        assertThat(exchange.drop(Cancellation.NONE)).isEqualTo(new Dropped(1, BLOCK, 0, BLOCK));
        write(BLOCK);
        fsync();
        assertThat(model.pushes).containsExactly("0+4096", "4096+4096");
        assertThat(read(BLOCK)).isEqualTo(6);
    }

    @Test
    void fsyncPullsAgainWhenAReadFollowedAnInterruptedFsync() throws IOException {
        awaitPulls(1);
        model.pullsWait(true);
        interruptFsync();
        model.pullsWait(false);
        exchange.read(0, 1, request);
        model.fill(9);
        fsync();
        assertThat(read(0)).isEqualTo(9);
    }

    @Test
    void wholeGradientIsPushedAfterTheLearnerWasKilledInFsync() throws Exception {
        write(0);
        exchange.write(2 << 20, BLOCK, request.with(1, BLOCK));
        model.pushesWait(true);
        interruptFsync();
        CompletableFuture<Void> abandon = CompletableFuture.runAsync(exchange::abandon);
        Await.await("pushes wait", () -> model.waiting.get() > 0);
        model.pushesWait(false);
        abandon.get(10, TimeUnit.SECONDS);
        assertThat(model.pushes).containsExactlyInAnyOrder("0+4096", (2 << 20) + "+4096");
    }

    @Test
    void fsyncByAReaderDoesNotChangeTheWeightsOfALearner() throws IOException {
        awaitPulls(1);
        model.fill(9);
        exchange.refresh(Cancellation.NONE);
        assertThat(read(0)).isEqualTo(5);
        exchange.abandon();
        exchange.refresh(Cancellation.NONE);
        assertThat(read(0)).isEqualTo(9);
    }

    @Test
    void cancelledReadDoesNotWaitForTheFsyncOfAnotherThread() throws Exception {
        model.synchronizeWaits(true);
        write(0);
        CompletableFuture<Void> fsync = start(Cancellation.NONE, cancellation -> exchange.synchronize(cancellation));
        Await.await("the fsync waits", () -> model.waiting.get() > 0);
        request.cancellation().cancel();
        assertThatThrownBy(() -> exchange.read(0, 1, request)).hasMessageContaining("interrupted");
        model.synchronizeWaits(false);
        fsync.get(10, TimeUnit.SECONDS);
    }

    @Test
    void partialLastBlockOfTheModelIsPushedAsAWholeBlock() throws IOException {
        exchange.write(SIZE - 4, 4, request.with(1, 4));
        fsync();
        assertThat(model.pushes).containsExactly(3 * (1 << 20) + "+4096");
    }
}
