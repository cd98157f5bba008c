package io.modeldisk.admin;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A question whose answer may take for ever. Requests at the same time share one answer, so there is at most one thread that
 * asks. Thread-safe.
 */
final class Question<T> {
    /** A load balancer and a scraper do not wait for longer. */
    private static final Duration LIMIT = Duration.ofSeconds(3);

    private final String silence;
    private final Callable<T> ask;
    private CompletableFuture<T> asked;

    /**
     * Creates a question.
     *
     * @param silence the reason that {@link #answer} gives if there is no answer in time, without the limit
     * @param ask asks
     */
    Question(String silence, Callable<T> ask) {
        this.silence = silence;
        this.ask = ask;
    }

    /**
     * Returns the answer.
     *
     * @throws IOException if there is no answer within 3 s, or asking fails; the message has the reason
     */
    T answer() throws IOException {
        CompletableFuture<T> answer = begin();
        try {
            if (!FutureWait.isDoneWithin(answer, LIMIT, NanoClock.SYSTEM)) {
                throw new IOException(silence + " within " + LIMIT.toSeconds() + " s");
            }
            return answer.join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause();
            throw new IOException(Objects.requireNonNullElse(cause.getMessage(), cause.toString()), cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the process stops", e);
        }
    }

    private synchronized CompletableFuture<T> begin() {
        if (asked == null || asked.isDone()) {
            CompletableFuture<T> answer = new CompletableFuture<>();
            ThreadName.QUESTION.builder().start(() -> {
                try {
                    answer.complete(ask.call());
                } catch (Throwable e) {
                    // Also errors: without an answer, nobody would ask again.
                    answer.completeExceptionally(e);
                }
            });
            asked = answer;
        }
        return asked;
    }
}
