package io.modeldisk.mount.exchange;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeTransfer;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class OverlapExchangeTest {
    /** More than two pieces, and a last logical block that is not full. */
    private static final int SIZE = 9 * (1 << 20) + 20;
    private static final int BLOCK = 4096;
    private static final int FIRST = 5;

    private final MemoryModel model = new MemoryModel(SIZE);
    private final FakeTransfer transfer = new FakeTransfer();
    private Exchange exchange;

    private void open(PullPolicy policy) throws IOException {
        model.fill(FIRST);
        exchange = ExchangeScheme.named("overlap").create(model,
            new ExchangeSettings(policy, ExchangeSettings.systemTrace()));
        exchange.prepare(true, Cancellation.NONE);
    }

    private void open() throws IOException {
        open(PullPolicy.ADAPTIVE);
    }

    @AfterEach
    void close() {
        exchange.close();
        transfer.close();
        model.close();
    }

    private void write(long offset) throws IOException {
        exchange.write(offset, BLOCK, transfer.with(1, BLOCK));
    }

    private void fsync() throws IOException {
        exchange.synchronize(Cancellation.NONE);
    }

    private int read(long offset) throws IOException {
        exchange.read(offset, 1, transfer);
        return transfer.answer[0];
    }

    /** Waits until the model was pulled this often: once by the open, once in the background after it, once by each fsync. */
    private void awaitPulls(int count) {
        await(count + " pulls of the whole model end",
            () -> exchange.counters().pulledBytes() == count * LogicalBlocks.up(SIZE));
    }

    @ParameterizedTest
    @EnumSource(PullPolicy.class)
    void iterationKSeesTheGradientsUpToKMinusTwoInEveryBlock(PullPolicy policy) throws IOException {
        open(policy);
        for (int k = 1; k <= 8; k++) {
            int seen = FIRST + Math.max(0, k - 2);
            assertThat(read(0)).isEqualTo(seen);
            assertThat(read(5 << 20)).isEqualTo(seen);
            assertThat(read(9 << 20)).isEqualTo(seen);
            write(0);
            write(5 << 20);
            exchange.write(9 << 20, 20, transfer.with(1, 20));
            fsync();
        }
        exchange.flush(Cancellation.NONE);
        assertThat(model.weight(0)).isEqualTo((byte) (FIRST + 8));
        assertThat(model.weight(9 << 20)).isEqualTo((byte) (FIRST + 8));
        assertThat(exchange.counters().iterations()).isEqualTo(8);
        assertThat(exchange.counters().pushedBytes()).isEqualTo(8L * 3 * BLOCK);
    }

    @Test
    void nothingIsPushedBeforeFsync() throws IOException {
        open();
        write(0);
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void fsyncDoesNotWaitForItsOwnExchange() throws IOException {
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
    void fsyncWaitsForTheExchangeBeforeAndLosesNothingWhenItIsInterrupted() throws Exception {
        open();
        write(0);
        fsync();
        awaitPulls(3);
        model.pushesWait(true);
        write(BLOCK);
        fsync();
        write(2 * BLOCK);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> assertThatThrownBy(
            () -> exchange.synchronize(cancellation)).hasMessageContaining("interrupted"));
        await("the fsync waits", () -> model.waiting.get() > 0);
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
    void aFailedPushIsReportedByTheNextFsyncAndMadeUpForByTheOneAfter() throws IOException {
        open();
        write(0);
        write(2 * BLOCK);
        model.failPushAfter(1);
        fsync();
        write(BLOCK);
        assertThatThrownBy(this::fsync).hasMessageContaining("the iteration before").hasMessageContaining("shard 0");
        assertThat(exchange.counters().lastError()).contains("shard 0");
        // No switch: the gradient that was being written is still there, and the weights are the same.
        assertThat(read(0)).isEqualTo(FIRST);
        fsync();
        exchange.flush(Cancellation.NONE);
        assertThat(model.pushes).containsExactly("0+4096", "8192+4096", "4096+4096");
        assertThat(read(2 * BLOCK)).isEqualTo(FIRST + 1);
    }

    @Test
    void aFailedPullIsReportedAndItsMixtureNeverSeen() throws IOException {
        open();
        fsync();
        awaitPulls(3);
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
    void closeReportsThatTheLastGradientIsNotWithTheShards() throws IOException {
        open();
        write(0);
        model.failPushAfter(0);
        fsync();
        assertThatThrownBy(() -> exchange.flush(Cancellation.NONE)).hasMessageContaining("not with the shards");
        exchange.abandon();
        assertThat(exchange.counters().lastError()).contains("4096 bytes of the gradient of iteration 1 are lost")
            .contains("shard 0");
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void aLearnerThatIsGoneHasPushedAllThatItFsyncedAndNothingElse() throws Exception {
        open();
        for (int block = 0; block < 20; block++) {
            write(2 * block * BLOCK);
        }
        model.pushesWait(true);
        fsync();
        write(BLOCK);
        CompletableFuture<Void> gone = CompletableFuture.runAsync(exchange::abandon);
        await("a push waits", () -> model.waiting.get() > 0);
        model.pushesWait(false);
        gone.get(10, TimeUnit.SECONDS);
        assertThat(model.pushes).hasSize(20).doesNotContain(BLOCK + "+4096");
        assertThat(model.weight(38 * BLOCK)).isEqualTo((byte) (FIRST + 1));
    }

    @Test
    void aLearnerThatIsGoneWhileItPullsLeavesNoWeightsOfItsOwnBehind() throws Exception {
        open();
        awaitPulls(2);
        model.pullsWait(true);
        fsync();
        await("a pull waits", () -> model.waiting.get() > 0);
        exchange.abandon();
        model.pullsWait(false);
        model.fill(7);
        exchange.prepare(true, Cancellation.NONE);
        assertThat(read(SIZE - 1)).isEqualTo(7);
        fsync();
        assertThat(read(0)).isEqualTo(7);
    }

    @Test
    void aPushThatNeverEndsIsGivenUpAndSaid() throws IOException {
        open();
        write(0);
        model.pushesWait(true);
        fsync();
        exchange.abandon();
        assertThat(exchange.counters().lastError()).contains("4096 bytes");
        model.pushesWait(false);
        exchange.prepare(true, Cancellation.NONE);
        fsync();
        exchange.flush(Cancellation.NONE);
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void aReaderDoesNotChangeTheWeightsOfALearner() throws IOException {
        open();
        model.fill(8);
        exchange.refresh(Cancellation.NONE);
        assertThat(read(0)).isEqualTo(FIRST);
        exchange.abandon();
        exchange.refresh(Cancellation.NONE);
        assertThat(read(0)).isEqualTo(8);
    }

    @Test
    void noReaderSeesWeightsThatAreHalfPulled() throws IOException {
        open();
        exchange.abandon();
        model.fill(9);
        model.failPullAfter(0);
        assertThatThrownBy(() -> exchange.refresh(Cancellation.NONE)).hasMessageContaining("shard 0");
        assertThat(read(SIZE - 1)).isEqualTo(9);
        assertThat(read(0)).isEqualTo(9);
    }

    @Test
    void theWeightsInUseGetOlder() throws IOException {
        open();
        double age = exchange.weightsInUse().ageMs();
        assertThat(exchange.weightsInUse().ageMs()).isGreaterThan(age);
        fsync();
        assertThat(exchange.counters().meanAgeMs()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whateverFailsEachFsyncedGradientCountsOnce(long seed) throws IOException {
        open(PullPolicy.values()[(int) (seed % 3)]);
        Random random = new Random(seed);
        int[] expected = new int[SIZE / BLOCK];
        int[] written = new int[SIZE / BLOCK];
        for (int i = 0; i < 100; i++) {
            int block = random.nextInt(expected.length);
            int count = Math.min(1 + random.nextInt(300), expected.length - block);
            count = Math.min(count, FakeTransfer.MEMORY_BYTES / BLOCK);
            int value = 1 + random.nextInt(3);
            exchange.write((long) block * BLOCK, count * BLOCK, transfer.with(value, count * BLOCK));
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
