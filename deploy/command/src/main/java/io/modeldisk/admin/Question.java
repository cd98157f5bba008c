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
 * A query to shards whose answer might never arrive. Concurrent calls share one query, so at most one thread waits for the
 * shards. Thread-safe.
 */
final class Question<T> {
    /** The time limit of an answer. Load balancers and Prometheus scrapers do not wait longer. */
    private static final Duration LIMIT = Duration.ofSeconds(3);

    private final String silence;
    private final Callable<T> ask;
    private CompletableFuture<T> asked;

    /**
     * Creates a query that has not been sent yet.
     *
     * @param silence the message of the exception if there is no answer in time; {@link #answer} appends the time limit
     * @param ask sends the query and returns its answer; it can block for any time
     */
    Question(String silence, Callable<T> ask) {
        this.silence = silence;
        this.ask = ask;
    }

    /**
     * Returns the answer.
     *
     * @throws IOException if there is no answer within 3 s, or the query fails; the message contains the reason
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
                    // Errors are also caught: if the future never completed, no further query would start.
                    answer.completeExceptionally(e);
                }
            });
            asked = answer;
        }
        return asked;
    }
}
