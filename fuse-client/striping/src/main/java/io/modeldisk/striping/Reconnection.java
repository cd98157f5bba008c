package io.modeldisk.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.function.IoSupplier;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/**
 * Repeats an attempt after a lost connection or BUSY, with growing pauses, until the attempt succeeds or the reconnect timeout
 * has passed. Not thread-safe.
 */
final class Reconnection {
    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final NanoClock clock;
    private final long timeoutNs;
    private final ScopedLock lock = new ScopedLock();
    private final Condition cancelled = lock.newCondition();
    private final Cancellation.Waiter waiter = Cancellation.signalling(lock, cancelled);
    /**
     * The time for which attempts are repeated while the shard reports that another process is the learner. The shard might not
     * have noticed yet that the previous process of this mount has ended.
     */
    private static final long NAME_IN_USE_NS = TimeUnit.SECONDS.toNanos(3);

    private long lostSinceNs;
    private boolean lost;
    private long pauseNs;

    Reconnection(NanoClock clock, long timeoutNs) {
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    /** Repeats the attempt until it succeeds, or until {@link #failed} throws the failure of the last attempt. */
    <T> T run(IoSupplier<T> attempt, Cancellation cancellation) throws IOException {
        while (true) {
            try {
                T result = attempt.get();
                succeeded();
                return result;
            } catch (IOException e) {
                failed(e, cancellation);
            }
        }
    }

    /** Records that an attempt has succeeded. */
    void succeeded() {
        lost = false;
    }

    /**
     * Records that an attempt has failed, and pauses before the next attempt.
     *
     * @throws IOException the failure, if another attempt cannot succeed or the reconnect timeout has passed;
     *     {@link CancelledException} if the pause was cancelled
     */
    void failed(IOException failure, Cancellation cancellation) throws IOException {
        long nowNs = clock.nanoTime();
        if (!lost) {
            lost = true;
            lostSinceNs = nowNs;
            pauseNs = FIRST_PAUSE_NS;
        }
        if (!mayPass(failure, nowNs - lostSinceNs) || Thread.currentThread().isInterrupted()) {
            throw failure;
        }
        if (nowNs - lostSinceNs > timeoutNs) {
            throw failure instanceof ShardException shard && timeoutNs > 0
                ? shard.withMessage(shard.getMessage() + "; reconnecting failed for " + timeoutNs / 1_000_000 + " ms")
                : failure;
        }
        pause(cancellation);
        pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
    }

    private static boolean mayPass(IOException failure, long passedNs) {
        return failure instanceof ShardException shard && switch (shard.kind()) {
            case PATH_LOST, BUSY -> true;
            case NAME_IN_USE -> passedNs < NAME_IN_USE_NS;
            default -> false;
        };
    }

    private void pause(Cancellation cancellation) throws IOException {
        long endNs = clock.nanoTime() + pauseNs;
        try (Cancellation.Registration _ = cancellation.registered(waiter); ScopedLock.Held _ = lock.hold()) {
            boolean over = false;
            while (!over) {
                cancellation.check();
                over = !clock.awaitUntil(cancelled, endNs);
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited to reconnect");
        }
    }
}
