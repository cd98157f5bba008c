package io.modeldisk.mount.file;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeRequest;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.PollWakeup;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class VersionNumberFileTest {
    private static final int CHANGED = 0x43;
    private static final int CHANGED_AND_FAILED = 0x4B;

    private final MemoryModel model = new MemoryModel(4096);
    private final VersionWatch watch = new VersionWatch(model, NanoClock.SYSTEM);
    private final VersionNumberFile file = new VersionNumberFile(watch);
    private final FakeRequest request = new FakeRequest();
    private final FileHandle handle = open();

    private FileHandle open() {
        return file.open(false, Cancellation.NONE);
    }

    @AfterEach
    void close() {
        watch.close();
        model.release();
        request.close();
    }

    /** A wake-up that counts its calls. */
    private static final class Waiter implements PollWakeup {
        private final AtomicInteger wakes = new AtomicInteger();
        private final AtomicInteger discards = new AtomicInteger();

        @Override
        public void wake() {
            wakes.incrementAndGet();
        }

        @Override
        public void discard() {
            discards.incrementAndGet();
        }

        void awaitWake() {
            await("the waiting process is woken", () -> wakes.get() > 0);
        }
    }

    private String read(long offset) throws IOException {
        request.answer = new byte[0];
        handle.read(offset, 100, request);
        return new String(request.answer, StandardCharsets.UTF_8);
    }

    /** Reads the version through the handle, and starts to wait for another version. */
    private Waiter waitForAChange() throws IOException {
        read(0);
        Waiter waiter = new Waiter();
        assertThat(handle.poll(waiter)).isZero();
        return waiter;
    }

    @Test
    void readReturnsTheCurrentVersionAsALine() throws IOException {
        assertThat(read(0)).isEqualTo("7\n");
        model.version(12, 1);
        assertThat(read(2)).isEmpty();
        assertThat(read(1)).isEqualTo("\n");
        assertThat(read(0)).isEqualTo("12\n");
    }

    @Test
    void handleIsReadyBeforeItsFirstRead() {
        assertThat(handle.poll(new Waiter())).isEqualTo(CHANGED);
        assertThat(model.versionCalls).hasValue(0);
    }

    @Test
    void processWaitsUntilTheVersionDiffersFromTheOneItHasRead() throws IOException {
        Waiter waiter = waitForAChange();
        model.version(8, 1);
        waiter.awaitWake();
        assertThat(handle.poll(null)).isEqualTo(CHANGED);
        assertThat(handle.poll(new Waiter())).isEqualTo(CHANGED);
        assertThat(read(0)).isEqualTo("8\n");
        assertThat(handle.poll(new Waiter())).isZero();
        assertThat(waiter.wakes).hasValue(1);
    }

    @Test
    void changeBetweenReadAndPollIsNotMissed() throws IOException {
        read(0);
        model.version(8, 1);
        Waiter waiter = new Waiter();
        if (handle.poll(waiter) == 0) {
            waiter.awaitWake();
        }
        assertThat(handle.poll(null)).isEqualTo(CHANGED);
    }

    @Test
    void pollWithoutAWaitReportsAChange() throws IOException {
        read(0);
        assertThat(handle.poll(null)).isZero();
        model.version(8, 1);
        await("poll returns events", () -> handle.poll(null) == CHANGED);
    }

    @Test
    void newWaitReplacesAnEarlierWait() throws IOException {
        read(0);
        Waiter old = new Waiter();
        Waiter waiter = new Waiter();
        handle.poll(old);
        handle.poll(waiter);
        assertThat(old.discards).hasValue(1);
        model.version(8, 1);
        waiter.awaitWake();
        assertThat(old.wakes).hasValue(0);
    }

    @Test
    void pollWithoutAWaitKeepsTheWaitOfAnotherThread() throws IOException {
        Waiter waiter = waitForAChange();
        handle.poll(null);
        assertThat(waiter.discards).hasValue(0);
        model.version(8, 1);
        waiter.awaitWake();
    }

    @Test
    void releaseEndsTheWait() throws IOException {
        Waiter waiter = waitForAChange();
        handle.release();
        assertThat(waiter.discards).hasValue(1);
    }

    @Test
    void lowerVersionOfAnotherHistoryWakesAProcess() throws IOException {
        Waiter waiter = waitForAChange();
        model.version(3, 2);
        waiter.awaitWake();
        assertThat(read(0)).isEqualTo("3\n");
    }

    @Test
    void waitingProcessIsWokenWhenAReadFindsTheSameVersionOfAnotherHistory() throws Exception {
        read(0);
        model.version(7, 2);
        FileHandle other = open();
        Waiter waiter = new Waiter();
        assertThat(handle.poll(waiter)).isZero();
        other.read(0, 100, request);
        waiter.awaitWake();
    }

    @Test
    void lowerVersionOfTheSameHistoryWakesAProcess() throws IOException {
        Waiter waiter = waitForAChange();
        // A shard was killed before the record of its last update was durable.
        model.version(6, 1);
        waiter.awaitWake();
        assertThat(read(0)).isEqualTo("6\n");
        assertThat(model.versionCalls).hasValueLessThan(10);
    }

    @Test
    void lowerVersionThatArrivesLateIsIgnored() throws IOException {
        read(0);
        model.version(8, 1);
        model.beforeNextVersion(() -> {
            model.version(9, 1);
            try {
                open().read(0, 100, request);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        assertThat(read(0)).isEqualTo("9\n");
    }

    @Test
    void processIsWokenAfterAnErrorAndCanWaitAgain() throws IOException {
        Waiter waiter = waitForAChange();
        model.beforeNextVersion(() -> {
            throw new OutOfMemoryError("test");
        });
        model.version(8, 1);
        waiter.awaitWake();
        assertThat(read(0)).isEqualTo("8\n");
        Waiter next = new Waiter();
        handle.poll(next);
        model.version(9, 1);
        next.awaitWake();
    }

    @Test
    void pollWithoutAWaitReportsAChangeAfterTheWatchingThreadHasFailed() throws IOException {
        read(0);
        AtomicInteger wakes = new AtomicInteger();
        handle.poll(new PollWakeup() {
            @Override
            public void wake() {
                wakes.incrementAndGet();
                throw new OutOfMemoryError("test");
            }

            @Override
            public void discard() {
                // Nothing to free.
            }
        });
        model.failVersion(new ShardException(ShardException.Kind.MODEL_CHANGED, new ShardId(0, "h"), "other size"));
        await("the wake-up fails", () -> wakes.get() > 0);
        model.failVersion(null);
        assertThat(read(0)).isEqualTo("7\n");
        model.version(8, 1);
        await("poll returns events", () -> handle.poll(null) == CHANGED);
    }

    @Test
    void processesAreNotWokenWhileAShardIsUnreachable() throws Exception {
        Waiter waiter = waitForAChange();
        model.failVersion(new ShardException(ShardException.Kind.PATH_LOST, new ShardId(0, "h"), "gone"));
        int calls = model.versionCalls.get();
        await("requests are sent to the shards again", () -> model.versionCalls.get() > calls + 2);
        assertThat(waiter.wakes).hasValue(0);
        assertThatThrownBy(() -> read(0)).hasMessage("gone");
        model.version(8, 1);
        model.failVersion(null);
        waiter.awaitWake();
    }

    @Test
    void changedModelWakesAProcessWithAnError() throws Exception {
        Waiter waiter = waitForAChange();
        model.failVersion(new ShardException(ShardException.Kind.MODEL_CHANGED, new ShardId(0, "h"), "other size"));
        waiter.awaitWake();
        assertThat(handle.poll(new Waiter())).isEqualTo(CHANGED_AND_FAILED);
        assertThatThrownBy(() -> read(0)).satisfies(
            e -> assertThat(FailureErrno.of((IOException) e).name()).isEqualTo("ESTALE"));
    }

    @Test
    void noRequestIsSentWhileNoProcessPolls() throws Exception {
        read(0);
        int calls = model.versionCalls.get();
        model.version(8, 1);
        model.version(9, 1);
        assertThat(model.versionCalls).hasValue(calls);
    }
}
