package io.modeldisk.bench.micro;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Requester;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Runs clients at the same time. Each client sends one request after another on a separate thread. */
final class ClosedLoop {
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(2);
    private static final int DIGITS = 3;
    private static final double MICRO = 1e3;

    private ClosedLoop() {}

    /** Runs all clients until each client has completed {@code requestsEach} requests. Returns their combined outcome. */
    static Outcome run(List<? extends Requester> clients, Direction direction, int requestBytes, long requestsEach)
        throws IOException {
        List<FutureTask<Histogram>> tasks = new ArrayList<>();
        for (Requester client : clients) {
            tasks.add(new FutureTask<>(() -> {
                Histogram nanoseconds = new Histogram(LONGEST_NS, DIGITS);
                client.pingPong(direction, requestBytes, requestsEach, nanoseconds);
                return nanoseconds;
            }));
        }
        long begun = System.nanoTime();
        tasks.forEach(task -> Thread.ofPlatform().daemon().name("bench-client").start(task));
        Histogram all = new Histogram(LONGEST_NS, DIGITS);
        for (FutureTask<Histogram> task : tasks) {
            all.add(await(task));
        }
        return new Outcome(all.getTotalCount(), System.nanoTime() - begun, all.getValueAtPercentile(50) / MICRO,
            all.getValueAtPercentile(99) / MICRO);
    }

    /** Waits until a task has completed. Returns the result of the task, or throws its failure. */
    static <T> T await(FutureTask<T> task) throws IOException {
        try {
            return task.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for a task of the benchmark was interrupted", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException trouble ? trouble : new IOException(e.getCause());
        }
    }
}
