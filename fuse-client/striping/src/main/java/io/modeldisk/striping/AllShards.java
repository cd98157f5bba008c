package io.modeldisk.striping;

import io.modeldisk.platform.function.IoConsumer;
import io.modeldisk.platform.function.IoFunction;
import io.modeldisk.platform.threads.ThreadName;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Calls all shards of a model at the same time. */
final class AllShards {
    private AllShards() {}

    /** Runs an action for every shard, for all shards at the same time; see {@link #call}. */
    static void run(List<ShardClient> shards, IoConsumer<ShardClient> action) throws IOException {
        call(shards, shard -> {
            action.accept(shard);
            return null;
        });
    }

    /**
     * Calls every shard, and returns when all calls have returned.
     *
     * @param shards an object for each shard, in the order of the shards
     * @return the results, in the order of the shards
     * @throws IOException the failure of the shard with the lowest number; the failures of other shards are added to this
     *     exception as suppressed exceptions
     */
    static <S, T> List<T> call(List<S> shards, IoFunction<S, T> call) throws IOException {
        if (shards.size() == 1) {
            List<T> only = new ArrayList<>(1);
            only.add(call.apply(shards.getFirst()));
            return only;
        }
        List<FutureTask<T>> tasks = new ArrayList<>(shards.size());
        for (S shard : shards) {
            FutureTask<T> task = new FutureTask<>(() -> call.apply(shard));
            ThreadName.SHARD_CALL.builder(tasks.size()).start(task);
            tasks.add(task);
        }
        List<T> results = new ArrayList<>(shards.size());
        IOException failure = null;
        for (FutureTask<T> task : tasks) {
            try {
                results.add(await(task));
            } catch (IOException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
        return results;
    }

    /** Waits until a call has returned. An interrupt does not end the wait; the interrupt status is set again afterwards. */
    private static <T> T await(FutureTask<T> task) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof IOException failed) {
                        throw failed;
                    }
                    throw new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
