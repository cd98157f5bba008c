package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.login.LoginException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * How a call bears with lost connections: it tries again at once, then with growing pauses, until a shard has been away for too
 * long. Not thread-safe.
 */
final class Reconnection {
    private static final long FIRST_PAUSE_MILLIS = 2;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    private static final long CHECK_MILLIS = 5;
    private static final int INITIATOR_ERROR_CLASS = 2;

    private long limitNanos;
    private long lostSinceNanos;
    private boolean lost;
    private long pauseMillis;

    /** Something that talks to shards. */
    @FunctionalInterface
    interface Attempt<T> {
        T run() throws IOException;
    }

    /** Starts over, for a call that may wait this long for a shard. */
    Reconnection begin(long limit) {
        limitNanos = limit;
        lost = false;
        return this;
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

    void succeeded() {
        lost = false;
    }

    /**
     * Pauses before the next try.
     *
     * @throws IOException the failure, if there is to be no other try; {@link CancelledException} if that ended the pause
     */
    void failed(IOException failure, Cancellation cancellation) throws IOException {
        long now = System.nanoTime();
        if (!lost) {
            lost = true;
            lostSinceNanos = now;
            pauseMillis = FIRST_PAUSE_MILLIS;
        }
        if (isFinal(failure) || now - lostSinceNanos > limitNanos) {
            throw failure;
        }
        pause(cancellation);
        pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
    }

    private static boolean isFinal(IOException failure) {
        if (failure instanceof RefusedException || failure instanceof CancelledException
            || Thread.currentThread().isInterrupted()) {
            return true;
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LoginException login && login.status() >> 8 == INITIATOR_ERROR_CLASS) {
                return true;
            }
        }
        return false;
    }

    private void pause(Cancellation cancellation) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
        try {
            while (System.nanoTime() - end < 0) {
                if (cancellation.isCancelled()) {
                    throw new CancelledException();
                }
                Thread.sleep(Math.min(pauseMillis, CHECK_MILLIS));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
