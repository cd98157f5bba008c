package io.modeldisk.mount.exchange;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.CancellableLock;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.function.IoFunction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class CancellableLockTest {
    private final CancellableLock lock = new CancellableLock();
    private final List<Thread> threads = new ArrayList<>();

    /** Starts to lock exclusively, with or without a cancellation. */
    private CompletableFuture<CancellableLock.Held> startExclusive(boolean cancellable) {
        return start(each -> cancellable ? each.exclusive(Cancellation.NONE) : each.exclusive());
    }

    private CompletableFuture<CancellableLock.Held> start(boolean exclusive, Cancellation cancellation) {
        return start(each -> exclusive ? each.exclusive(cancellation) : each.shared(cancellation));
    }

    private CompletableFuture<CancellableLock.Held> start(IoFunction<CancellableLock, CancellableLock.Held> way) {
        CompletableFuture<CancellableLock.Held> locked = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                locked.complete(way.apply(lock));
            } catch (IOException e) {
                locked.completeExceptionally(e);
            }
        });
        threads.add(thread);
        return locked;
    }

    private void awaitAllWaiting() {
        await("the threads wait", () -> threads.stream().allMatch(thread -> thread.getState() == Thread.State.WAITING));
    }

    private static CancellableLock.Held get(CompletableFuture<CancellableLock.Held> locked) throws Exception {
        return locked.get(10, TimeUnit.SECONDS);
    }

    @Test
    void closeWakesAllThreadsThatWaitForSharedAccess() throws Exception {
        CancellableLock.Held stamp = lock.exclusive();
        CompletableFuture<CancellableLock.Held> one = start(false, Cancellation.NONE);
        CompletableFuture<CancellableLock.Held> two = start(false, Cancellation.NONE);
        awaitAllWaiting();
        stamp.close();
        get(one).close();
        get(two).close();
    }

    @Test
    void cancelledThreadStopsWaitingForTheLock() {
        CancellableLock.Held stamp = lock.exclusive();
        Cancellation cancellation = new Cancellation();
        CompletableFuture<CancellableLock.Held> waits = start(true, cancellation);
        awaitAllWaiting();
        cancellation.cancel();
        assertThatThrownBy(() -> get(waits)).isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(CancelledException.class);
        stamp.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void exclusiveAccessIsGrantedBeforeLaterRequestsForSharedAccess(boolean cancellable) throws Exception {
        CancellableLock.Held shared = lock.shared(Cancellation.NONE);
        CompletableFuture<CancellableLock.Held> alone = startExclusive(cancellable);
        awaitAllWaiting();
        CompletableFuture<CancellableLock.Held> later = start(false, Cancellation.NONE);
        awaitAllWaiting();
        shared.close();
        CancellableLock.Held stamp = get(alone);
        assertThat(later).isNotDone();
        stamp.close();
        get(later).close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void exclusiveAccessIsGrantedWhileReadersOverlap(boolean cancellable) throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        AtomicInteger inside = new AtomicInteger();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            readers.add(Thread.ofPlatform().daemon().unstarted(() -> overlap(() -> readers.get(other), inside, ended)));
        }
        readers.forEach(Thread::start);
        try {
            await("both readers have the lock", () -> inside.get() == 2);
            get(startExclusive(cancellable)).close();
        } finally {
            ended.set(true);
        }
        for (Thread reader : readers) {
            reader.join();
        }
    }

    /** Locks and unlocks in a loop. Unlocks only while the other reader also holds the lock, or waits for it. */
    private void overlap(Supplier<Thread> other, AtomicInteger inside, AtomicBoolean ended) {
        while (!ended.get()) {
            try {
                CancellableLock.Held stamp = lock.shared(Cancellation.NONE);
                inside.incrementAndGet();
                while (!inside.compareAndSet(2, 1)) {
                    if (ended.get() || other.get().getState() == Thread.State.WAITING) {
                        inside.decrementAndGet();
                        break;
                    }
                }
                stamp.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void uninterruptibleWaitForExclusiveAccessContinuesAfterAnInterrupt() throws Exception {
        CancellableLock.Held shared = lock.shared(Cancellation.NONE);
        CompletableFuture<CancellableLock.Held> alone = startExclusive(false);
        awaitAllWaiting();
        threads.getFirst().interrupt();
        shared.close();
        get(alone).close();
    }

    @Test
    void cancelledWaitForExclusiveAccessWakesThreadsThatWaitForSharedAccess() throws Exception {
        CancellableLock.Held shared = lock.shared(Cancellation.NONE);
        Cancellation cancellation = new Cancellation();
        start(true, cancellation);
        awaitAllWaiting();
        CompletableFuture<CancellableLock.Held> later = start(false, Cancellation.NONE);
        awaitAllWaiting();
        cancellation.cancel();
        get(later).close();
        shared.close();
    }

    @Test
    void exclusiveAccessExcludesAllOtherThreads() {
        AtomicInteger inside = new AtomicInteger();
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
            boolean exclusive = thread % 2 == 0;
            ends.add(CompletableFuture.runAsync(() -> {
                for (int i = 0; i < 2_000; i++) {
                    enter(exclusive, inside);
                }
            }, task -> Thread.ofPlatform().daemon().start(task)));
        }
        ends.forEach(end -> end.orTimeout(50, TimeUnit.SECONDS).join());
    }

    private void enter(boolean exclusive, AtomicInteger inside) {
        try {
            CancellableLock.Held stamp = exclusive ? lock.exclusive(Cancellation.NONE) : lock.shared(Cancellation.NONE);
            int others = inside.getAndAdd(exclusive ? 1_000 : 1);
            Thread.yield();
            inside.addAndGet(exclusive ? -1_000 : -1);
            stamp.close();
            assertThat(others).isLessThan(exclusive ? 1 : 1_000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
