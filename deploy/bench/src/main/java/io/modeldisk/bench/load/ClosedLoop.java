package io.modeldisk.bench.load;

import io.modeldisk.platform.threads.Interruption;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.HdrHistogram.Histogram;

/** Runs clients at the same time. Each client sends one request after another on a separate thread. */
public final class ClosedLoop {
    private ClosedLoop() {}

    /** Runs all clients until each client has completed {@code requestsEach} requests, and measures them together. */
    public static Measured run(
        List<? extends Requester> clients, Direction direction, int requestBytes, long requestsEach)
        throws IOException {
        List<Callable<Histogram>> tasks = new ArrayList<>();
        for (Requester client : clients) {
            tasks.add(() -> {
                Histogram nanoseconds = Requester.latencies();
                client.pingPong(direction, requestBytes, requestsEach, nanoseconds);
                return nanoseconds;
            });
        }
        long begun = System.nanoTime();
        Histogram all = Requester.latencies();
        together(tasks).forEach(all::add);
        return Measured.of(all, System.nanoTime() - begun);
    }

    /**
     * Runs tasks at the same time, the last one on the calling thread. Returns their results, in the order of the tasks.
     *
     * @throws IOException if a task fails
     */
    public static <T> List<T> together(List<Callable<T>> tasks) throws IOException {
        List<FutureTask<T>> running = new ArrayList<>();
        tasks.subList(0, tasks.size() - 1).forEach(task -> running.add(start("bench-client", task)));
        running.add(new FutureTask<>(tasks.getLast()));
        running.getLast().run();
        List<T> results = new ArrayList<>();
        for (FutureTask<T> task : running) {
            results.add(await(task));
        }
        return results;
    }

    /** Starts a task on its own thread. */
    public static <T> FutureTask<T> start(String thread, Callable<T> task) {
        FutureTask<T> started = new FutureTask<>(task);
        Thread.ofPlatform().daemon().name(thread).start(started);
        return started;
    }

    /** Waits until a task has completed. Returns the result of the task, or throws its failure. */
    public static <T> T await(FutureTask<T> task) throws IOException {
        try {
            return task.get();
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for a task of the benchmark");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException trouble ? trouble : new IOException(e.getCause());
        }
    }
}
