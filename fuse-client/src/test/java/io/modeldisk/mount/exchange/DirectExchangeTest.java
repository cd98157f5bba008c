package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeRequest;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.test.Await;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class DirectExchangeTest extends ExchangeFixture<Exchange> {
    private static final int SIZE = (1 << 20) + 20;

    DirectExchangeTest() {
        model = new MemoryModel(SIZE);
        exchange = ExchangeScheme.DIRECT.create(model, TestSettings.defaults());
    }

    @Test
    void writePushesItsGradientImmediately() throws IOException {
        exchange.write(8192, 4096, request.with(3, 4096));
        assertThat(model.weight(8192)).isEqualTo((byte) 3);
        assertThat(model.weight(12288)).isZero();
    }

    @Test
    void roundOfTheLearnerChangesAtFsyncAndNotAtAWrite() throws IOException {
        assertThat(exchange.round()).isZero();
        exchange.prepare(true, Cancellation.NONE);
        assertThat(exchange.round()).isEqualTo(1);
        exchange.write(0, 4096, request.with(3, 4096));
        assertThat(exchange.round()).isEqualTo(1);
        exchange.synchronize(Cancellation.NONE);
        assertThat(exchange.round()).isEqualTo(2);
        exchange.abandon();
        assertThat(exchange.round()).isZero();
    }

    @Test
    void unalignedReadReturnsOnlyTheRequestedBytes() throws IOException {
        exchange.write(4096, 4096, request.with(3, 4096));
        exchange.read(4095, 3, request);
        assertThat(request.answer).containsExactly(0, 3, 3);
    }

    @Test
    void unalignedWriteFailsWithEinval() {
        assertThatThrownBy(() -> exchange.write(1, 4096, request)).isInstanceOfSatisfying(ErrnoException.class,
            e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL)).hasMessageContaining("multiple of 4096");
        assertThatThrownBy(() -> exchange.write(0, 100, request)).isInstanceOf(ErrnoException.class);
        assertThat(model.pushes).isEmpty();
    }

    @Test
    void writeAtTheEndOfTheModelIsPaddedWithZeros() throws IOException {
        exchange.write(1 << 20, 20, request.with(3, 20));
        assertThat(model.weight((1 << 20) + 19)).isEqualTo((byte) 3);
        assertThat(model.weight((1 << 20) + 20)).isZero();
    }

    /** If pushes were permitted at once, a concurrent request could repeat a failed one, which might count twice. */
    @Test
    void failedWritePermitsNoPushBeforeTheFsync() throws IOException {
        AtomicInteger continuations = new AtomicInteger();
        exchange.prepare(true, Cancellation.NONE);
        model.whenGoingOn = continuations::incrementAndGet;
        model.goBack(7);
        write(0);
        write(4096);
        assertThat(continuations).hasValue(0);
        assertThatThrownBy(this::fsync).hasMessageContaining("gone back");
        assertThat(continuations).hasValue(1);
        write(0);
        fsync();
        assertThat(model.weight(0)).isEqualTo((byte) 8);
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
    }

    /** Otherwise, the write would push a part of a gradient that is discarded. */
    @Test
    void readThatFindsARollbackPermitsNoPushBeforeTheWritesInProgressHaveEnded() throws Exception {
        AtomicInteger continuations = new AtomicInteger();
        exchange.prepare(true, Cancellation.NONE);
        model.whenGoingOn = continuations::incrementAndGet;
        model.pushesWait(true);
        try (FakeRequest other = new FakeRequest()) {
            Future<?> write = start(() -> {
                exchange.write(0, 4096, other.with(1, 4096));
                return null;
            });
            Await.await("the write is about to push", () -> model.waiting.get() == 1);
            model.goBack(7);
            Future<?> read = start(() -> read(0));
            Await.await("the read has found the rollback", () -> exchange.counters().failures.sum() == 1);
            assertThat(continuations).hasValue(0);
            model.pushesWait(false);
            write.get(30, TimeUnit.SECONDS);
            read.get(30, TimeUnit.SECONDS);
        }
        assertThat(model.pushes).isEmpty();
        assertThat(request.answer).containsExactly(7);
        assertThat(continuations).hasValue(1);
    }

    private static Future<?> start(Callable<?> call) {
        FutureTask<?> task = new FutureTask<>(call);
        Thread.ofVirtual().start(task);
        return task;
    }

    @Test
    void rollbackThatAReadHasFoundIsCountedOnce() throws IOException {
        exchange.prepare(true, Cancellation.NONE);
        model.goBack(7);
        assertThat(read(0)).isEqualTo(7);
        write(0);
        assertThat(read(0)).isEqualTo(7);
        assertThatThrownBy(this::fsync).hasMessageContaining("gone back");
        fsync();
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
        assertThat(exchange.counters().roundsTakenBack.sum()).isEqualTo(MemoryModel.ROUNDS_BACK);
    }

    @Test
    void errorForAnUnknownExchangeSchemeListsTheValidNames() {
        assertThatThrownBy(() -> EnumNames.parse(ExchangeScheme.class, "exchange", "fast"))
            .hasMessage("exchange=fast must be one of direct, sync, overlap");
    }
}
