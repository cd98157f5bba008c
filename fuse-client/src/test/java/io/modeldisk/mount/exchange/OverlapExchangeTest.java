package io.modeldisk.mount.exchange;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeRequest;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class OverlapExchangeTest extends ExchangeFixture<Exchange> {
    /** A model size of more than two pieces of a push, with a partial last logical block. */
    private static final int SIZE = 9 * (1 << 20) + 20;
    private static final int FIRST = 5;

    OverlapExchangeTest() {
        model = new MemoryModel(SIZE);
    }

    private void open(PullPolicy policy) throws IOException {
        open(policy, NanoClock.SYSTEM);
    }

    private void open(PullPolicy policy, NanoClock clock) throws IOException {
        model.fill(FIRST);
        exchange = ExchangeScheme.OVERLAP.create(model,
            new ExchangeSettings(policy, OnRollback.FAIL, new IterationTrace(clock, Instant.EPOCH)));
        exchange.prepare(true, Cancellation.NONE);
    }

    private void open() throws IOException {
        open(PullPolicy.ADAPTIVE);
    }

    @Test
    void fsyncRaisesTheRoundBeforeItsPushHasCompleted() throws IOException {
        open();
        assertThat(exchange.round()).isEqualTo(1);
        model.pushesWait(true);
        write(0);
        fsync();
        assertThat(exchange.round()).isEqualTo(2);
        model.pushesWait(false);
        awaitPulls(2);
        assertThat(exchange.round()).isEqualTo(2);
        write(0);
        fsync();
        assertThat(exchange.round()).isEqualTo(3);
        fsync();
        assertThat(exchange.round()).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource(PullPolicy.class)
    void weightsLackOnlyTheGradientOfThePreviousIteration(PullPolicy policy) throws IOException {
        open(policy);
        for (int k = 1; k <= 8; k++) {
            int seen = FIRST + Math.max(0, k - 2);
            assertThat(read(0)).isEqualTo(seen);
            assertThat(read(5 << 20)).isEqualTo(seen);
            assertThat(read(9 << 20)).isEqualTo(seen);
            write(0);
            write(5 << 20);
            exchange.write(9 << 20, 20, request.with(1, 20));
            fsync();
        }
        exchange.flush(Cancellation.NONE);
        assertThat(model.weight(0)).isEqualTo((byte) (FIRST + 8));
        assertThat(model.weight(9 << 20)).isEqualTo((byte) (FIRST + 8));
        assertThat(exchange.counters().iterations.sum()).isEqualTo(8);
        assertThat(exchange.counters().pushedBytes.sum()).isEqualTo(8L * 3 * BLOCK);
    }

    @Test
    void fsyncReturnsBeforeItsGradientIsPushed() throws IOException {
        open();
        write(0);
        model.pushesWait(true);
        fsync();
        assertThat(model.pushes).isEmpty();
        model.pushesWait(false);
        exchange.flush(Cancellation.NONE);
        assertThat(model.pushes).containsExactly("0+4096");
    }

    @Test
    void fsyncAfterAnInterruptedFsyncPushesEachGradientOnce() throws Exception {
        open();
        write(0);
        fsync();
        awaitPulls(2);
        model.pushesWait(true);
        write(BLOCK);
        fsync();
        write(2 * BLOCK);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> assertThatThrownBy(
            () -> exchange.synchronize(cancellation)).hasMessageContaining("interrupted"));
        await("a call waits", () -> model.waiting.get() > 0);
        assertThat(waits).isNotDone();
        cancellation.cancel();
        waits.get(10, TimeUnit.SECONDS);
        model.pushesWait(false);
        fsync();
        exchange.flush(Cancellation.NONE);
        assertThat(model.pushes).containsExactly("0+4096", "4096+4096", "8192+4096");
        assertThat(read(2 * BLOCK)).isEqualTo(FIRST);
        assertThat(read(BLOCK)).isEqualTo(FIRST + 1);
    }

    @Test
    void failedPushIsReportedByOneFsyncAndRepeatedByTheNextFsync() throws IOException {
        open();
        write(0);
        write(2 * BLOCK);
        model.failPushAfter(1);
        fsync();
        write(BLOCK);
        assertThatThrownBy(this::fsync).hasMessageContaining("the previous iteration").hasMessageContaining("shard 0");
        assertThat(exchange.counters().lastError()).contains("shard 0");
        assertThat(exchange.counters().failures.sum()).isEqualTo(1);
        // The failed fsync has not swapped the sets, so the new gradient is kept and the weights are unchanged.
        assertThat(read(0)).isEqualTo(FIRST);
        fsync();
        exchange.flush(Cancellation.NONE);
        assertThat(model.pushes).containsExactly("0+4096", "8192+4096", "4096+4096");
        assertThat(read(2 * BLOCK)).isEqualTo(FIRST + 1);
    }

    @Test
    void readNeverReturnsAMixtureOfTwoPullsAfterAFailedPull() throws IOException {
        open();
        fsync();
        awaitPulls(2);
        model.fill(9);
        model.failPullAfter(0);
        fsync();
        assertThatThrownBy(this::fsync).hasMessageContaining("shard 0");
        int before = read(0);
        assertThat(read(SIZE - 1)).isEqualTo(before);
        fsync();
        assertThat(read(0)).isEqualTo(9);
        assertThat(read(SIZE - 1)).isEqualTo(9);
    }

    @Test
    void closeReportsAFailedPushOfTheLastGradient() throws IOException {
        open();
        write(0);
        model.failPushAfter(0);
        fsync();
        assertThatThrownBy(() -> exchange.flush(Cancellation.NONE))
            .hasMessageContaining("have not received the gradient of the last");
        exchange.abandon();
        assertThat(exchange.counters().lastError()).contains("4096 bytes of the gradient of iteration 1 are lost")
            .contains("shard 0");
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void closeDiscardsTheGradientWrittenAfterTheLastFsync() throws Exception {
        open();
        for (int block = 0; block < 20; block++) {
            write(2 * block * BLOCK);
        }
        model.pushesWait(true);
        fsync();
        write(BLOCK);
        CompletableFuture<Void> gone = CompletableFuture.runAsync(exchange::abandon);
        await("a call waits", () -> model.waiting.get() > 0);
        model.pushesWait(false);
        gone.get(10, TimeUnit.SECONDS);
        assertThat(model.pushes).hasSize(20).doesNotContain(BLOCK + "+4096");
        assertThat(model.weight(38 * BLOCK)).isEqualTo((byte) (FIRST + 1));
    }

    @Test
    void newLearnerReadsFreshWeightsAfterAnotherLearnerLeftDuringAPull() throws Exception {
        open();
        awaitPulls(1);
        model.pullsWait(true);
        fsync();
        await("a call waits", () -> model.waiting.get() > 0);
        exchange.abandon();
        model.pullsWait(false);
        model.fill(7);
        exchange.prepare(true, Cancellation.NONE);
        assertThat(read(SIZE - 1)).isEqualTo(7);
        fsync();
        assertThat(read(0)).isEqualTo(7);
    }

    @Test
    void closeCancelsAndReportsAPushThatNeverCompletes() throws Exception {
        ManualClock clock = new ManualClock();
        open(PullPolicy.AFTER_PUSH, clock);
        write(0);
        model.pushesWait(true);
        fsync();
        CompletableFuture<Void> abandon = CompletableFuture.runAsync(exchange::abandon);
        await("the push and the close wait", () -> model.waiting.get() > 0 && clock.waitingThreads() > 0);
        assertThat(abandon).isNotDone();
        clock.advance(Duration.ofNanos(BufferedExchange.DRAIN_TIMEOUT_NS));
        abandon.get(10, TimeUnit.SECONDS);
        assertThat(exchange.counters().lastError()).contains("4096 bytes");
        model.pushesWait(false);
        exchange.prepare(true, Cancellation.NONE);
        fsync();
        exchange.flush(Cancellation.NONE);
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void exchangeReadsTheCountersButNotTheStatusOfTheShards() throws IOException {
        open();
        for (int k = 1; k <= 4; k++) {
            write(0);
            fsync();
        }
        awaitPulls(5);
        await("the staleness is known", () -> !exchange.counters().staleness.isEmpty());
        assertThat(exchange.weightsInUse().version()).isEqualTo(7);
        assertThat(model.counterReads.get()).isPositive();
        assertThat(model.statusReads).hasValue(0);
    }

    @Test
    void adaptivePullIsDelayedUnlessTheLearnerWaits() throws Exception {
        ManualClock clock = new ManualClock();
        open(PullPolicy.ADAPTIVE, clock);
        for (int k = 1; k <= 12; k++) {
            long pulledBytes = k * LogicalBlock.up(SIZE);
            await("the exchange has ended or its pull is delayed",
                () -> clock.waitingThreads() > 0 || exchange.counters().pulledBytes.sum() == pulledBytes);
            clock.advance(Duration.ofSeconds(1));
            write(0);
            fsync();
        }
        await("the push has ended", () -> exchange.counters().pushedBytes.sum() == 12 * BLOCK);
        await("the pull is delayed", () -> clock.waitingThreads() > 0);
        clock.advance(Duration.ofMillis(500));
        awaitPulls(12);
        clock.advance(Duration.ofMillis(450));
        awaitPulls(13);
        assertThat(exchange.counters().bubbles.last()).isEqualTo(950);
        clock.advance(Duration.ofMillis(50));
        fsync();
        await("the pull is delayed", () -> clock.waitingThreads() > 0);
        fsync();
        assertThat(exchange.counters().bubbles.last()).isZero();
    }

    @Test
    void openPullsOnceForBothBufferSets() throws IOException {
        open();
        awaitPulls(1);
        model.pullsWait(true);
        fsync();
        assertThat(read(0)).isEqualTo(FIRST);
    }

    @Test
    void ageOfTheWeightsGrowsUntilAnFsyncSwapsTheBufferSets() throws IOException {
        ManualClock clock = new ManualClock();
        open(PullPolicy.AFTER_PUSH, clock);
        awaitPulls(1);
        clock.advance(Duration.ofMillis(30));
        assertThat(exchange.weightsInUse().ageMs()).isEqualTo(30);
        fsync();
        awaitPulls(2);
        assertThat(exchange.weightsInUse().ageMs()).isEqualTo(30);
        clock.advance(Duration.ofMillis(5));
        fsync();
        assertThat(exchange.weightsInUse().ageMs()).isEqualTo(5);
        assertThat(exchange.counters().ages.mean()).isEqualTo((30 + 5) / 2.0);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void eachGradientCountsOnceDespiteRandomFailures(long seed) throws IOException {
        open(PullPolicy.values()[(int) (seed % 3)]);
        Random random = new Random(seed);
        int[] expected = new int[SIZE / BLOCK];
        int[] written = new int[SIZE / BLOCK];
        for (int i = 0; i < 100; i++) {
            int block = random.nextInt(expected.length);
            int count = Math.min(1 + random.nextInt(300), expected.length - block);
            count = Math.min(count, FakeRequest.MEMORY_BYTES / BLOCK);
            int value = 1 + random.nextInt(3);
            exchange.write((long) block * BLOCK, count * BLOCK, request.with(value, count * BLOCK));
            Arrays.fill(written, block, block + count, value);
            switch (random.nextInt(6)) {
                case 0 -> model.failPushAfter(random.nextInt(3));
                case 1 -> model.failPullAfter(random.nextInt(3));
                default -> {
                }
            }
            if (random.nextInt(3) > 0 && fsyncSucceeds(random.nextInt(8) == 0)) {
                for (int b = 0; b < expected.length; b++) {
                    expected[b] += written[b];
                    written[b] = 0;
                }
            }
        }
        model.failPushAfter(Integer.MAX_VALUE);
        model.failPullAfter(Integer.MAX_VALUE);
        if (!fsyncSucceeds(false)) {
            fsync();
        }
        exchange.flush(Cancellation.NONE);
        for (int b = 0; b < expected.length; b++) {
            assertThat(model.weight((long) b * BLOCK)).as("block %d", b)
                .isEqualTo((byte) (FIRST + expected[b] + written[b]));
        }
    }

    private boolean fsyncSucceeds(boolean cancelled) {
        Cancellation cancellation = new Cancellation();
        if (cancelled) {
            cancellation.cancel();
        }
        try {
            exchange.synchronize(cancellation);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
