package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How a call survives lost connections: it tries again at once, then with growing pauses, until a shard has been away for longer
 * than the reconnect timeout. For one thread.
 */
final class Reconnection {
    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final NanoClock clock;
    private final long timeoutNs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition cancelled = lock.newCondition();
    private final Cancellation.Waiter waiter = Cancellation.signalling(lock, cancelled);
    private long lostSinceNs;
    private boolean lost;
    private long pauseNs;

    /** Something that talks to shards. */
    @FunctionalInterface
    interface Attempt<T> {
        T run() throws IOException;
    }

    Reconnection(NanoClock clock, long timeoutNs) {
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    /** Tries until it works: see {@link #failed}. */
    <T> T run(Attempt<T> attempt, Cancellation cancellation) throws IOException {
        while (true) {
            try {
                T result = attempt.run();
                succeeded();
                return result;
            } catch (IOException e) {
                failed(e, cancellation);
            }
        }
    }

    /** The shard has answered. */
    void succeeded() {
        lost = false;
    }

    /**
     * Pauses before the next try.
     *
     * @throws IOException the failure, if another try cannot help or the time is over; {@link CancelledException} if the pause
     *     was cancelled
     */
    void failed(IOException failure, Cancellation cancellation) throws IOException {
        long nowNs = clock.nanoTime();
        if (!lost) {
            lost = true;
            lostSinceNs = nowNs;
            pauseNs = FIRST_PAUSE_NS;
        }
        if (!mayPass(failure) || Thread.currentThread().isInterrupted()) {
            throw failure;
        }
        if (nowNs - lostSinceNs > timeoutNs) {
            throw failure instanceof ShardException shard && timeoutNs > 0
                ? shard.withMessage(shard.getMessage() + "; tried to reconnect for " + timeoutNs / 1_000_000 + " ms")
                : failure;
        }
        pause(cancellation);
        pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
    }

    private static boolean mayPass(IOException failure) {
        return failure instanceof ShardException shard
            && (shard.kind() == ShardException.Kind.PATH_LOST || shard.kind() == ShardException.Kind.BUSY);
    }

    private void pause(Cancellation cancellation) throws IOException {
        long endNs = clock.nanoTime() + pauseNs;
        cancellation.register(waiter);
        lock.lock();
        try {
            boolean over = false;
            while (!over) {
                cancellation.check();
                over = !clock.awaitUntil(cancelled, endNs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting to reconnect");
        } finally {
            lock.unlock();
            cancellation.unregister(waiter);
        }
    }
}
