package io.modeldisk.server.fake;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs the roles of a test in parallel. */
public final class Roles {
    private Roles() {}

    /** Runs each role in its own thread, and returns the results after all roles have ended. Fails if a role fails. */
    public static <T> List<T> runAll(List<? extends Callable<T>> roles) throws Exception {
        List<T> results = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            for (Future<T> done : threads.invokeAll(roles)) {
                results.add(done.get());
            }
        }
        return results;
    }

    /** An action that may fail. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    /** Starts an action in a daemon thread. */
    public static CompletableFuture<Void> start(Action action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                action.run();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }
}
