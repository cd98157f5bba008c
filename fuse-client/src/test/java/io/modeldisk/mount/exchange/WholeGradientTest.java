package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.test.Await;
import java.io.IOException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a round never contains blocks of two gradients, and that no part of a gradient with a NaN is pushed, even if an
 * fsync fails, is interrupted or is repeated.
 */
@Timeout(60)
class WholeGradientTest extends ExchangeFixture<BufferedExchange> {
    private static final int SIZE = 2 << 20;
    private static final byte NAN = (byte) 0xFF;

    private void open(String scheme, String nonFinite, boolean mapped) throws IOException {
        model = new MemoryModel(SIZE, nonFinite);
        exchange = (BufferedExchange) EnumNames.parse(ExchangeScheme.class, "exchange", scheme).create(model,
            TestSettings.defaults());
        if (mapped) {
            exchange.prepareMapped(Cancellation.NONE);
        } else {
            exchange.prepare(true, Cancellation.NONE);
        }
        exchange.awaitWeights(Cancellation.NONE);
    }

    /** Writes a gradient whose bytes are all {@code value}, except for four bytes near the end, which are {@code last}. */
    private void gradient(boolean mapped, int value, int last) throws IOException {
        int at = SIZE - 8;
        if (mapped) {
            DataMemory memory = exchange.buffer(exchange.activeSet(), true, Cancellation.NONE);
            memory.slab(0).fill((byte) value);
            memory.slab(0).asSlice(at, 4).fill((byte) last);
            return;
        }
        for (int offset = 0; offset < SIZE; offset += 1 << 20) {
            exchange.write(offset, 1 << 20, request.with(value, 1 << 20));
        }
        exchange.write(at, 4, request.with(last, 4));
    }

    /** Calls fsync while a shard does not respond to the rest of the gradient. */
    private void failFsync() {
        assertThatThrownBy(this::fsync).hasMessageContaining("does not respond");
    }

    private static void assertBusy(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(ErrnoException.class,
            e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
    }

    private static void assertWhole(Dropped dropped) {
        assertThat(dropped.acceptedBytes() + dropped.leftOutBytes()).isEqualTo(SIZE);
    }

    /** Waits until the shards have received the gradient of the last fsync. */
    private void awaitPushed() throws IOException {
        exchange.flush(Cancellation.NONE);
    }

    private void assertWeights(int all, int last) {
        assertThat(model.weight(0)).as("first weight").isEqualTo((byte) all);
        assertThat(model.weight(SIZE / 2)).as("weight in the middle").isEqualTo((byte) all);
        assertThat(model.weight(SIZE - 8)).as("weight that was not finite").isEqualTo((byte) last);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void refusedGradientFailsOneFsyncAndTheNextGradientCounts(boolean mapped) throws IOException {
        open("sync", "refuse", mapped);
        gradient(mapped, 1, NAN);
        assertThatThrownBy(this::fsync).isInstanceOf(NonFiniteGradientException.class)
            .hasMessageContaining("iteration 1");
        assertThat(model.pushes).isEmpty();
        gradient(mapped, 1, 1);
        fsync();
        assertWeights(1, 1);
        fsync();
        assertWeights(mapped ? 2 : 1, mapped ? 2 : 1);
        Await.await("the refused gradient is counted", () -> model.calls.contains("count"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fsyncWithOverlapReportsThePreviousRefusedGradientAndKeepsItsOwn(boolean mapped) throws IOException {
        open("overlap", "refuse", mapped);
        gradient(mapped, 1, NAN);
        fsync();
        gradient(mapped, 2, 2);
        assertThatThrownBy(this::fsync).isInstanceOf(NonFiniteGradientException.class)
            .hasMessageContaining("iteration 1");
        assertThat(model.pushes).isEmpty();
        fsync();
        awaitPushed();
        assertWeights(2, 2);
        gradient(mapped, 3, 3);
        fsync();
        awaitPushed();
        assertWeights(5, 5);
    }

    @Test
    void refusedGradientIsReportedByCloseAndByTheNextFsync() throws IOException {
        open("overlap", "refuse", false);
        gradient(false, 1, NAN);
        fsync();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(this::awaitPushed).as("close of any descriptor, such as a child's")
                .isInstanceOf(NonFiniteGradientException.class);
        }
        gradient(false, 2, 2);
        assertThatThrownBy(this::fsync).isInstanceOf(NonFiniteGradientException.class);
        fsync();
        awaitPushed();
        assertWeights(2, 2);
    }

    @ParameterizedTest
    @CsvSource({"sync, false", "sync, true", "overlap, false", "overlap, true"})
    void skippedGradientIsAbsentEverywhereAndCountedOnce(String scheme, boolean mapped) throws IOException {
        open(scheme, "skip", mapped);
        gradient(mapped, 1, NAN);
        fsync();
        awaitPushed();
        assertThat(model.pushes).isEmpty();
        assertThat(model.absents.stream().mapToLong(WholeGradientTest::bytes).sum()).isEqualTo(SIZE);
        assertThat(model.absents).filteredOn(range -> range.endsWith("counted")).hasSize(1);
        gradient(mapped, 1, 1);
        fsync();
        awaitPushed();
        assertWeights(1, 1);
    }

    private static long bytes(String range) {
        return Long.parseLong(range.replaceAll(".*\\+(\\d+).*", "$1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync", "overlap"})
    void gradientIsNotSearchedIfTheShardsDoNotCheckIt(String scheme) throws IOException {
        open(scheme, "pass", false);
        gradient(false, 1, NAN);
        fsync();
        awaitPushed();
        assertWeights(1, NAN);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failedFsyncCanBeRepeatedOnlyWithTheSameGradient(boolean mapped) throws IOException {
        open("sync", "refuse", mapped);
        beginAGradientThatFails("sync", mapped);
        gradient(mapped, 1, 2);
        for (int i = 0; i < 2; i++) {
            assertBusy(this::fsync);
        }
        gradient(mapped, 1, 1);
        fsync();
        assertWeights(1, 1);
        gradient(mapped, 1, 2);
        fsync();
        assertWeights(2, 3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fsyncRepeatedAfterAFailedPullPushesNothing(boolean mapped) throws IOException {
        open("sync", "refuse", mapped);
        gradient(mapped, 1, 1);
        model.failPullAfter(0);
        failFsync();
        gradient(mapped, 1, 1);
        fsync();
        assertWeights(1, 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void interruptedFsyncCanBeRepeatedOnlyWithTheSameGradient(boolean mapped) throws IOException {
        open("sync", "refuse", mapped);
        gradient(mapped, 1, 1);
        model.pushesWait(true);
        interruptFsync();
        model.pushesWait(false);
        Await.await("the exchange ends", () -> model.pulls.get() == 2);
        gradient(mapped, 7, 7);
        assertBusy(this::fsync);
        gradient(mapped, 1, 1);
        fsync();
        assertWeights(1, 1);
        gradient(mapped, 1, 1);
        fsync();
        assertWeights(2, 2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void droppedGradientCountsWhereItWasAcceptedAndIsAbsentElsewhere(boolean mapped) throws IOException {
        open("sync", "refuse", mapped);
        beginAGradientThatFails("sync", mapped);
        Dropped dropped = exchange.drop(Cancellation.NONE);
        assertThat(dropped.acceptedBytes()).isPositive();
        assertWhole(dropped);
        assertThat(model.absents.stream().mapToLong(WholeGradientTest::bytes).sum()).isEqualTo(dropped.leftOutBytes());
        int before = model.pushes.size();
        gradient(mapped, 5, 5);
        fsync();
        assertThat(model.pushes.stream().skip(before).mapToLong(WholeGradientTest::bytes).sum()).isEqualTo(SIZE);
        assertThat(exchange.counters().lastDropped()).isEqualTo(dropped);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void dropWithOverlapGivesUpTheFailedGradientAndTheNextGradient(boolean mapped) throws IOException {
        open("overlap", "refuse", mapped);
        beginAGradientThatFails("overlap", mapped);
        Dropped dropped = exchange.drop(Cancellation.NONE);
        assertWhole(dropped);
        assertThat(dropped.discardedBytes()).isEqualTo(SIZE);
        byte accepted = model.weight(SIZE / 2);
        gradient(mapped, 5, 5);
        fsync();
        awaitPushed();
        assertThat(model.weight(SIZE / 2)).isEqualTo((byte) (accepted + 5));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync", "overlap"})
    void fsyncCanBeAbandonedOnlyBeforeItHasAnEffect(String scheme) throws IOException {
        open(scheme, "refuse", true);
        gradient(true, 1, 1);
        Cancellation abandoned = new Cancellation();
        assertThat(abandoned.abandon()).isTrue();
        assertThatThrownBy(() -> exchange.synchronize(abandoned)).isInstanceOf(CancelledException.class);
        assertThat(exchange.iterations()).isZero();
        assertThat(model.pushes).isEmpty();
        Cancellation heard = new Cancellation();
        exchange.synchronize(heard);
        assertThat(heard.abandon()).isFalse();
        awaitPushed();
        assertWeights(1, 1);
    }

    @Test
    void dropStopsARepeatedPushInTheOverlapExchange() throws IOException {
        open("overlap", "refuse", true);
        beginAGradientThatFails("overlap", true);
        model.pushesWait(true);
        interruptFsync();
        Await.await("the repetition waits", () -> model.waiting.get() > 0);
        Dropped dropped = exchange.drop(Cancellation.NONE);
        assertThat(dropped.leftOutBytes()).isPositive();
        assertWhole(dropped);
        assertThat(dropped.discardedBytes()).isEqualTo(SIZE);
    }

    @ParameterizedTest
    @CsvSource({"sync, false", "sync, true", "overlap, false", "overlap, true"})
    void repeatedDropReportsTheSameAsTheFirstDrop(String scheme, boolean mapped) throws IOException {
        open(scheme, "refuse", mapped);
        beginAGradientThatFails(scheme, mapped);
        Dropped dropped = exchange.drop(Cancellation.NONE);
        assertThat(dropped.acceptedBytes()).isPositive();
        assertThat(exchange.drop(Cancellation.NONE)).isEqualTo(dropped);
        assertThat(exchange.counters().lastDropped()).isEqualTo(dropped);
        gradient(mapped, 5, 5);
        fsync();
        awaitPushed();
        dropped = exchange.drop(Cancellation.NONE);
        assertThat(dropped.acceptedBytes() + dropped.leftOutBytes()).as("after the next fsync").isZero();
    }

    @Test
    void dropRepeatedAfterAFailedPullReportsTheWholeGradient() throws IOException {
        open("sync", "refuse", true);
        beginAGradientThatFails("sync", true);
        model.failPullAfter(0);
        assertThatThrownBy(() -> exchange.drop(Cancellation.NONE)).hasMessageContaining("does not respond");
        Dropped dropped = exchange.drop(Cancellation.NONE);
        assertThat(dropped.acceptedBytes()).isPositive();
        assertWhole(dropped);
        int pulls = model.pulls.get();
        assertThat(exchange.drop(Cancellation.NONE)).isEqualTo(dropped);
        assertThat(model.pulls).as("pulls after a drop that has changed nothing").hasValue(pulls);
    }

    /** Pushes only a part of a gradient, and calls fsync until an fsync reports the failure of this push. */
    private void beginAGradientThatFails(String scheme, boolean mapped) throws IOException {
        gradient(mapped, 1, 1);
        model.failPushAfter(1);
        if (scheme.equals("overlap")) {
            fsync();
            gradient(mapped, 2, 2);
        }
        failFsync();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync", "overlap"})
    void dropFailsWithEbusyIfThePushCannotBeStopped(String scheme) throws IOException {
        open(scheme, "refuse", true);
        beginAGradientThatFails(scheme, true);
        model.pushesHang(true);
        interruptFsync();
        Await.await("the push hangs", () -> model.waiting.get() > 0);
        // setxattr(2) would change EAGAIN to EOPNOTSUPP.
        assertBusy(() -> exchange.drop(Cancellation.NONE));
        model.pushesHang(false);
        Dropped dropped = exchange.drop(Cancellation.NONE);
        assertWhole(dropped);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync", "overlap"})
    void failedFsyncAndDropDeleteTheSavedState(String scheme) throws IOException {
        open(scheme, "refuse", true);
        boolean[] saved = new boolean[1];
        exchange.onMilestone(request -> saved[0] = request != null);
        gradient(true, 1, 1);
        fsync();
        assertThat(saved[0]).isTrue();
        gradient(true, 1, NAN);
        if (scheme.equals("overlap")) {
            fsync();
            gradient(true, 1, 1);
        }
        assertThatThrownBy(this::fsync).isInstanceOf(NonFiniteGradientException.class);
        assertThat(saved[0]).as("state after a failed fsync").isFalse();
        gradient(true, 1, 1);
        fsync();
        assertThat(saved[0]).isTrue();
        exchange.drop(Cancellation.NONE);
        assertThat(saved[0]).as("state after a drop").isFalse();
    }

    @Test
    void dropDiscardsARefusedGradientInTheOverlapExchange() throws IOException {
        open("overlap", "refuse", false);
        gradient(false, 1, NAN);
        fsync();
        gradient(false, 2, 2);
        Await.await("the gradient is refused", () -> model.calls.contains("count"));
        assertThat(exchange.drop(Cancellation.NONE)).isEqualTo(new Dropped(2, 0, 0, 2 * SIZE));
        gradient(false, 3, 3);
        fsync();
        awaitPushed();
        assertWeights(3, 3);
    }

    @Test
    void dropWithoutAFailedFsyncDiscardsTheGradientAndSendsNothing() throws IOException {
        open("sync", "refuse", false);
        exchange.write(0, BLOCK, request.with(1, BLOCK));
        assertThat(exchange.drop(Cancellation.NONE)).isEqualTo(new Dropped(1, 0, 0, BLOCK));
        fsync();
        assertThat(model.pushes).isEmpty();
        assertThat(model.absents).isEmpty();
        exchange.abandon();
        assertThatThrownBy(() -> exchange.drop(Cancellation.NONE)).isInstanceOfSatisfying(ErrnoException.class,
            e -> assertThat(e.errno()).isEqualTo(Errno.ENODATA));
    }

    @Test
    void pushOfAPartlyWrittenBlockSendsNoBytesOfAnEarlierGradient() throws IOException {
        open("sync", "refuse", false);
        gradient(false, 1, 1);
        fsync();
        exchange.write(100, 10, request.with(1, 10));
        exchange.write(2 * BLOCK - 4, 8, request.with(1, 8));
        fsync();
        assertThat(model.weight(99)).isEqualTo((byte) 1);
        assertThat(model.weight(100)).isEqualTo((byte) 2);
        assertThat(model.weight(110)).isEqualTo((byte) 1);
        assertThat(model.weight(2 * BLOCK - 5)).isEqualTo((byte) 1);
        assertThat(model.weight(2 * BLOCK - 4)).isEqualTo((byte) 2);
        assertThat(model.weight(2 * BLOCK + 3)).isEqualTo((byte) 2);
        assertThat(model.weight(2 * BLOCK + 4)).isEqualTo((byte) 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nextProcessRefusesAnotherGradientAfterAFailedFsync(boolean mapped) throws IOException {
        open("sync", "refuse", mapped);
        beginAGradientThatFails("sync", mapped);
        assertThat(exchange.freeze()).isTrue();
        ExchangeImage image = exchange.image();
        BufferedExchange before = exchange;
        exchange = (BufferedExchange) ExchangeScheme.SYNC.create(model, TestSettings.defaults());
        exchange.resume(image, false);
        gradient(mapped, 3, 3);
        assertThatThrownBy(this::fsync).hasMessageContaining("gradient has changed");
        gradient(mapped, 1, 1);
        fsync();
        assertWeights(1, 1);
        before.close();
    }

    /** Otherwise, the next gradient would have the round of the dropped one, and the shards would ignore its blocks. */
    @Test
    void dropAfterAKillGivesUpTheGradientThatTheKilledProcessMightHavePushed() throws IOException {
        open("sync", "refuse", true);
        ExchangeImage image = exchange.image();
        gradient(true, 1, 1);
        fsync();
        model.pushes.clear();
        try (BufferedExchange _ = exchange) {
            exchange = (BufferedExchange) ExchangeScheme.SYNC.create(model, TestSettings.defaults());
            exchange.resume(image, true);
            assertThat(exchange.drop(Cancellation.NONE)).isEqualTo(new Dropped(1, 0, SIZE, 0));
            assertThat(model.absents.stream().mapToLong(WholeGradientTest::bytes).sum()).isEqualTo(SIZE);
            gradient(true, 5, 5);
            fsync();
            assertThat(model.pushes.stream().mapToLong(WholeGradientTest::bytes).sum()).isEqualTo(SIZE);
        }
    }
}
