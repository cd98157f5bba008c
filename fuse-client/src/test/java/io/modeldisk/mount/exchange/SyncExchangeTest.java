package io.modeldisk.mount.exchange;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeTransfer;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class SyncExchangeTest {
    private static final int SIZE = 3 * (1 << 20) + 20;
    private static final int BLOCK = 4096;

    private final MemoryModel model = new MemoryModel(SIZE);
    private final FakeTransfer transfer = new FakeTransfer();
    private final Exchange exchange = ExchangeScheme.named("sync").create(model);

    @BeforeEach
    void join() throws IOException {
        model.fill(5);
        exchange.prepare(true, Cancellation.NONE);
    }

    @AfterEach
    void close() {
        exchange.close();
        transfer.close();
        model.close();
    }

    @Test
    void readsAreFreshFromTheStart() throws IOException {
        exchange.read(100, 3, transfer);
        assertThat(transfer.answer).containsOnly(5).hasSize(3);
    }

    @Test
    void nothingIsPushedBeforeFsync() throws IOException {
        exchange.write(0, BLOCK, transfer.with(1, BLOCK));
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void fsyncPushesEachDirtyRunOnceAndPullsTheResult() throws IOException {
        exchange.write(0, BLOCK, transfer.with(1, BLOCK));
        exchange.write(BLOCK, BLOCK, transfer.with(1, BLOCK));
        exchange.write(1 << 20, BLOCK, transfer.with(2, BLOCK));
        exchange.synchronize(Cancellation.NONE);

        assertThat(model.pushes).containsExactly("0+8192", (1 << 20) + "+4096");
        assertThat(model.calls).containsExactly("synchronize");
        exchange.read(1 << 20, 1, transfer);
        assertThat(transfer.answer).containsExactly(7);
        assertThat(exchange.counters().iterations()).isEqualTo(1);
        assertThat(exchange.counters().pushedBytes()).isEqualTo(3 * BLOCK);
    }

    @Test
    void untouchedBytesOfAPartlyWrittenBlockArePushedAsZero() throws IOException {
        exchange.write(BLOCK + 10, 4, transfer.with(3, 4));
        exchange.synchronize(Cancellation.NONE);

        assertThat(model.pushes).containsExactly("4096+4096");
        assertThat(model.weight(BLOCK + 9)).isEqualTo((byte) 5);
        assertThat(model.weight(BLOCK + 10)).isEqualTo((byte) 8);
        assertThat(model.weight(BLOCK + 14)).isEqualTo((byte) 5);
    }

    @Test
    void theGradientIsCleanAfterFsync() throws IOException {
        exchange.write(10, 4, transfer.with(3, 4));
        exchange.synchronize(Cancellation.NONE);
        exchange.write(20, 4, transfer.with(3, 4));
        exchange.synchronize(Cancellation.NONE);

        assertThat(model.weight(10)).isEqualTo((byte) 8);
        assertThat(model.weight(20)).isEqualTo((byte) 8);
    }

    @Test
    void fsyncWithoutAGradientOnlyPulls() throws IOException {
        model.fill(9);
        exchange.synchronize(Cancellation.NONE);

        exchange.read(SIZE - 1, 1, transfer);
        assertThat(transfer.answer).containsExactly(9);
        assertThat(model.pushes).isEmpty();
        assertThat(model.calls).isEmpty();
        assertThat(exchange.counters().iterations()).isZero();
    }

    @Test
    void tornGradientIsNeverPushed() throws IOException {
        exchange.write(0, BLOCK, transfer.with(1, BLOCK));
        exchange.abandon();
        exchange.prepare(true, Cancellation.NONE);
        exchange.write(10, 1, transfer.with(1, 1));
        exchange.synchronize(Cancellation.NONE);

        assertThat(model.pushes).containsExactly("0+4096");
        assertThat(model.weight(9)).isEqualTo((byte) 5);
        assertThat(model.weight(10)).isEqualTo((byte) 6);
    }

    @Test
    void whatWasPushedBeforeAFailureIsNotPushedAgain() throws IOException {
        exchange.write(0, BLOCK, transfer.with(1, BLOCK));
        exchange.write(2 * BLOCK, BLOCK, transfer.with(1, BLOCK));
        exchange.write(4 * BLOCK, BLOCK, transfer.with(1, BLOCK));
        model.failPushAfter(1);

        assertThatThrownBy(() -> exchange.synchronize(Cancellation.NONE)).hasMessageContaining("shard 0");
        assertThat(exchange.counters().lastError()).contains("shard 0");
        exchange.synchronize(Cancellation.NONE);

        assertThat(model.pushes).containsExactly("0+4096", "8192+4096", "16384+4096");
        assertThat(model.calls).containsExactly("synchronize");
    }

    @Test
    void aFailedPullIsMadeUpForByTheNextFsync() throws IOException {
        exchange.write(0, BLOCK, transfer.with(1, BLOCK));
        model.pullsWait(true);
        Cancellation cancelled = new Cancellation();
        cancelled.cancel();
        assertThatThrownBy(() -> exchange.synchronize(cancelled)).isInstanceOf(IOException.class);
        model.pullsWait(false);
        exchange.synchronize(Cancellation.NONE);

        assertThat(model.pushes).hasSize(1);
        exchange.read(0, 1, transfer);
        assertThat(transfer.answer).containsExactly(6);
    }

    @Test
    void noReadSeesWeightsThatAreHalfPulled() throws IOException {
        model.pullsWait(true);
        Cancellation cancelled = new Cancellation();
        cancelled.cancel();
        assertThatThrownBy(() -> exchange.synchronize(cancelled)).isInstanceOf(IOException.class);
        transfer.cancellation().cancel();
        assertThatThrownBy(() -> exchange.read(0, 1, transfer)).isInstanceOf(IOException.class);
        transfer.cancellation().reset();
        model.pullsWait(false);
        model.fill(9);
        exchange.read(0, 1, transfer);
        assertThat(transfer.answer).containsExactly(9);
    }

    @Test
    void aCancelledReadDoesNotWaitForTheFsyncOfAnother() throws Exception {
        model.synchronizeWaits(true);
        exchange.write(0, BLOCK, transfer.with(1, BLOCK));
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> fsync = CompletableFuture.runAsync(() -> {
            assertThatThrownBy(() -> exchange.synchronize(cancellation)).isInstanceOf(IOException.class);
        });
        await("the fsync waits", () -> model.waiting.get() > 0);
        transfer.cancellation().cancel();
        assertThatThrownBy(() -> exchange.read(0, 1, transfer)).hasMessageContaining("interrupted");
        cancellation.cancel();
        fsync.get(10, TimeUnit.SECONDS);
    }

    @Test
    void theTailBlockGoesWhole() throws IOException {
        exchange.write(SIZE - 4, 4, transfer.with(1, 4));
        exchange.synchronize(Cancellation.NONE);
        assertThat(model.pushes).containsExactly(3 * (1 << 20) + "+4096");
    }
}
