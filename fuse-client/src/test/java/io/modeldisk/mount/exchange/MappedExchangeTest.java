package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.MemoryModel;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.text.EnumNames;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the exchange schemes sync and overlap with a learner that maps the buffers. */
@Timeout(60)
class MappedExchangeTest extends ExchangeFixture<BufferedExchange> {
    private static final int SIZE = 1 << 20;

    MappedExchangeTest() {
        model = new MemoryModel(SIZE);
    }

    private void open(String scheme, String onRollback) {
        exchange = (BufferedExchange) EnumNames.parse(ExchangeScheme.class, "exchange", scheme).create(model,
            onRollback(onRollback));
    }

    /** Stores a gradient of ones in the active set, and calls fsync. */
    private void iterate() throws IOException {
        exchange.buffer(exchange.activeSet(), true, Cancellation.NONE).slab(0).fill((byte) 1);
        fsync();
    }

    private void openMapped(String scheme, String onRollback) throws IOException {
        open(scheme, onRollback);
        exchange.prepareMapped(Cancellation.NONE);
        exchange.awaitWeights(Cancellation.NONE);
    }

    private byte weight(int set) throws IOException {
        return exchange.buffer(set, false, Cancellation.NONE).slab(0).get(ValueLayout.JAVA_BYTE, SIZE - 1);
    }

    @ParameterizedTest
    @CsvSource({"sync, 1", "overlap, 2"})
    void learnerThatContinuesAfterARollbackUsesTheSetsInTurn(String scheme, int sets) throws IOException {
        openMapped(scheme, "continue");
        for (int n = 0; n < 8; n++) {
            assertThat(exchange.activeSet()).as("after %d iterations", n).isEqualTo(n % sets);
            assertThat(exchange.iterations()).isEqualTo(n);
            if (n == 3) {
                exchange.flush(Cancellation.NONE);
                model.goBack(40);
            }
            iterate();
        }
        exchange.flush(Cancellation.NONE);
        // The gradient whose push or pull fails because of the rollback is discarded. With overlap, the failure can appear one
        // iteration later. Two gradients are then discarded.
        assertThat(model.weight(0)).isBetween((byte) (40 + 5 - sets), (byte) 44);
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"sync, 1", "overlap, 2"})
    void dropThatFindsARollbackKeepsTheSetAndTheIteration(String scheme, int sets) throws IOException {
        openMapped(scheme, "continue");
        iterate();
        exchange.flush(Cancellation.NONE);
        model.failPushAfter(0);
        assertThatThrownBy(() -> {
            iterate();
            iterate();
        }).hasMessageContaining("does not respond");
        model.goBack(40);
        exchange.drop(Cancellation.NONE);
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
        for (int n = sets; n < sets + 3; n++) {
            assertThat(exchange.activeSet()).as("after %d iterations", n).isEqualTo(n % sets);
            assertThat(exchange.iterations()).isEqualTo(n);
            iterate();
        }
        exchange.flush(Cancellation.NONE);
        assertThat(model.weight(0)).isEqualTo((byte) 43);
    }

    /** Returns a cancellation that is cancelled when the learner continues after a rollback. Pulls wait from that moment on. */
    private Cancellation interruptedPullAfterTheRollback() {
        Cancellation interrupted = new Cancellation();
        model.whenGoingOn = () -> {
            model.pullsWait(true);
            interrupted.cancel();
        };
        return interrupted;
    }

    @ParameterizedTest
    @ValueSource(strings = {"fail", "continue"})
    void fsyncThatIsInterruptedAfterARollbackPushesNoDiscardedGradient(String onRollback) throws IOException {
        openMapped("sync", onRollback);
        iterate();
        model.goBack(40);
        Cancellation interrupted = interruptedPullAfterTheRollback();
        exchange.buffer(0, true, Cancellation.NONE).slab(0).fill((byte) 1);
        assertThatThrownBy(() -> exchange.synchronize(interrupted)).isInstanceOf(CancelledException.class);
        model.pullsWait(false);
        exchange.awaitWeights(Cancellation.NONE);
        if (onRollback.equals("fail")) {
            assertThatThrownBy(this::fsync).hasMessageContaining("gone back");
        } else {
            fsync();
        }
        assertThat(model.weight(0)).isEqualTo((byte) 40);
        iterate();
        assertThat(model.weight(0)).isEqualTo((byte) 41);
        assertThat(weight(0)).isEqualTo((byte) 41);
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"sync, fail", "sync, continue", "overlap, fail", "overlap, continue"})
    void dropEndsTheRollbackThatAnInterruptedFsyncHasFound(String scheme, String onRollback) throws IOException {
        openMapped(scheme, onRollback);
        iterate();
        exchange.flush(Cancellation.NONE);
        model.goBack(40);
        Cancellation interrupted = interruptedPullAfterTheRollback();
        assertThatThrownBy(() -> {
            exchange.synchronize(interrupted);
            exchange.synchronize(interrupted);
        }).isInstanceOf(CancelledException.class);
        model.pullsWait(false);
        if (onRollback.equals("fail")) {
            assertThatThrownBy(() -> exchange.drop(Cancellation.NONE)).hasMessageContaining("gone back");
        }
        exchange.drop(Cancellation.NONE);
        iterate();
        exchange.flush(Cancellation.NONE);
        assertThat(model.weight(0)).isEqualTo((byte) 41);
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
    }

    @Test
    void gradientIsDiscardedAfterAnInterruptedFsyncHadToPullMissingWeights() throws IOException {
        openMapped("sync", "continue");
        iterate();
        model.goBack(40);
        model.failPullAfter(0);
        assertThatThrownBy(this::iterate).isInstanceOf(IOException.class);
        model.pullsWait(true);
        exchange.buffer(0, true, Cancellation.NONE).slab(0).fill((byte) 1);
        interruptFsync();
        model.pullsWait(false);
        exchange.awaitWeights(Cancellation.NONE);
        assertThatThrownBy(this::fsync)
            .hasMessageContaining("the gradient is discarded");
        assertThat(model.weight(0)).isEqualTo((byte) 40);
        iterate();
        assertThat(weight(0)).isEqualTo((byte) 41);
    }

    @Test
    void bytesStoredInAGradientWhileThereIsNoLearnerAreNotPushed() throws IOException {
        open("sync", "fail");
        exchange.prepare(true, Cancellation.NONE);
        exchange.abandon();
        exchange.buffer(0, true, Cancellation.NONE).slab(0).fill((byte) 9);
        exchange.prepare(true, Cancellation.NONE);
        exchange.write(0, 100, request.with(1, 100));
        fsync();
        assertThat(model.weight(99)).isEqualTo((byte) 1);
        assertThat(model.weight(100)).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"fail", "continue"})
    void gradientIsDiscardedWithAnErrorIfItsWeightsCouldNotBePulled(String onRollback) throws IOException {
        openMapped("sync", onRollback);
        iterate();
        model.goBack(40);
        model.failPullAfter(0);
        assertThatThrownBy(this::iterate).isInstanceOf(IOException.class);
        int before = model.pushes.size();
        assertThatThrownBy(this::iterate).isInstanceOf(IOException.class).hasMessageContaining("gradient is discarded");
        assertThat(model.pushes).hasSize(before);
        assertThat(weight(0)).isEqualTo((byte) 40);
        iterate();
        assertThat(weight(0)).isEqualTo((byte) 41);
    }

    @Test
    void mountHasNoLearnerAfterTheFirstPullOfALearnerFailed() throws IOException {
        model.pullBreaks = true;
        assertThatThrownBy(() -> openMapped("overlap", "fail")).isInstanceOf(IOException.class);
        exchange.abandon();
        assertThat(exchange.round()).isZero();
        model.pullBreaks = false;
        model.fill(9);
        exchange.refresh(Cancellation.NONE);
        assertThat(weight(exchange.activeSet())).isEqualTo((byte) 9);
    }
}
