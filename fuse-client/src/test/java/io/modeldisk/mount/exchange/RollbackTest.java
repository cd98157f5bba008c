package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.MemoryModel;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.text.EnumNames;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests each exchange scheme with a shard that goes back to earlier weights while a learner trains. */
class RollbackTest extends ExchangeFixture<Exchange> {
    private static final int SIZE = 1 << 20;
    private static final int OLD = 50;
    private static final int CHECKPOINT = 7;

    private int failures;

    private void open(String scheme, String onRollback) throws IOException {
        model = new MemoryModel(SIZE);
        model.fill(OLD);
        exchange = EnumNames.parse(ExchangeScheme.class, "exchange", scheme).create(model, onRollback(onRollback));
        exchange.prepare(true, Cancellation.NONE);
    }

    private void fsyncAndCountFailures() {
        try {
            exchange.synchronize(Cancellation.NONE);
        } catch (IOException e) {
            assertThat(OnRollback.isReason(e)).as("reason of %s", e).isTrue();
            failures++;
        }
    }

    private void iterate(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            read(0);
            write(0);
            fsyncAndCountFailures();
        }
        exchange.flush(Cancellation.NONE);
    }

    /** With overlap, a failed exchange is found only by the next fsync, so two gradients are discarded. */
    @ParameterizedTest
    @CsvSource({"direct, fail, 3", "direct, continue, 3", "sync, fail, 3", "sync, continue, 3", "overlap, fail, 2",
        "overlap, continue, 2"})
    void oneFsyncFailsAndGradientsOfOldWeightsAreDiscarded(String scheme, String onRollback, int pushed)
        throws IOException {
        open(scheme, onRollback);
        iterate(3);
        assertThat(model.weight(0)).isEqualTo((byte) (OLD + 3));
        if (scheme.equals("overlap")) {
            // Without this wait, the pull could fail, and then only one gradient would be discarded.
            awaitPulls(4);
        }
        model.goBack(CHECKPOINT);
        iterate(4);
        assertThat(failures).isEqualTo(onRollback.equals("fail") ? 1 : 0);
        assertThat(model.weight(0)).isEqualTo((byte) (CHECKPOINT + pushed));
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
        assertThat(exchange.counters().roundsTakenBack.sum()).isEqualTo(MemoryModel.ROUNDS_BACK);
    }

    @ParameterizedTest
    @CsvSource({"direct, 1", "sync, 1", "overlap, 2"})
    void readAfterTheFailedFsyncReturnsTheWeightsOfTheShards(String scheme, int fsyncs) throws IOException {
        open(scheme, "fail");
        iterate(2);
        model.goBack(CHECKPOINT);
        write(0);
        for (int i = 0; i < fsyncs; i++) {
            fsyncAndCountFailures();
        }
        assertThat(failures).isEqualTo(1);
        assertThat(read(0)).isEqualTo(CHECKPOINT);
    }

    @ParameterizedTest
    @CsvSource({"direct", "sync", "overlap"})
    void repeatedFsyncReportsTheRollbackAfterAnInterrupt(String scheme) throws IOException {
        open(scheme, "fail");
        iterate(2);
        model.goBack(CHECKPOINT);
        Cancellation interrupted = new Cancellation();
        model.whenGoingOn = interrupted::cancel;
        write(0);
        IOException failure = null;
        // With overlap, the second fsync finds the failure.
        for (int i = 0; i < 2 && failure == null; i++) {
            try {
                exchange.synchronize(interrupted);
            } catch (IOException e) {
                failure = e;
            }
        }
        assertThat(failure).isInstanceOf(CancelledException.class);
        fsyncAndCountFailures();
        assertThat(failures).isEqualTo(1);
        fsyncAndCountFailures();
        assertThat(failures).isEqualTo(1);
        assertThat(read(0)).isEqualTo(CHECKPOINT);
        assertThat(exchange.counters().rollbacks.sum()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"direct", "sync", "overlap"})
    void shardThatGoesBackAgainDuringThePullIsReportedByTheNextFsync(String scheme) throws IOException {
        open(scheme, "fail");
        iterate(2);
        model.goBack(OLD);
        write(0);
        fsyncAndCountFailures();
        fsyncAndCountFailures();
        assertThat(failures).isEqualTo(1);
        model.goBack(CHECKPOINT);
        write(0);
        fsyncAndCountFailures();
        fsyncAndCountFailures();
        assertThat(failures).isEqualTo(2);
        assertThat(read(0)).isEqualTo(CHECKPOINT);
    }
}
