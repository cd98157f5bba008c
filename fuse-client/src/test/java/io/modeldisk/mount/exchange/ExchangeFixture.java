package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeRequest;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.test.Await;
import java.io.IOException;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;

/**
 * An exchange and its model in memory. Each test creates both, and this class closes them.
 *
 * @param <E> the class of the exchange
 */
abstract class ExchangeFixture<E extends Exchange> {
    static final int BLOCK = 4096;

    final FakeRequest request = new FakeRequest();
    MemoryModel model;
    E exchange;

    @AfterEach
    void close() {
        model.release();
        exchange.close();
        request.close();
        model.close();
    }

    static ExchangeSettings onRollback(String name) {
        return new ExchangeSettings(PullPolicy.ADAPTIVE, EnumNames.parse(OnRollback.class, "onRollback", name),
            new IterationTrace(NanoClock.SYSTEM, Instant.now()));
    }

    /** Reads one byte of the weights. */
    int read(long offset) throws IOException {
        exchange.read(offset, 1, request);
        return request.answer[0];
    }

    /** Writes a block of ones into the gradient. */
    void write(long offset) throws IOException {
        exchange.write(offset, BLOCK, request.with(1, BLOCK));
    }

    /** Waits until this number of pulls of the whole model has completed: one for the open and one for each fsync. */
    void awaitPulls(int count) {
        Await.await(count + " pulls",
            () -> exchange.counters().pulledBytes.sum() == count * LogicalBlock.up(model.trainBytes()));
    }

    void fsync() throws IOException {
        exchange.synchronize(Cancellation.NONE);
    }

    void interruptFsync() {
        Cancellation interrupted = new Cancellation();
        interrupted.cancel();
        assertThatThrownBy(() -> exchange.synchronize(interrupted)).isInstanceOf(CancelledException.class);
    }
}
