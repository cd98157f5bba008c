package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;

import io.modeldisk.striping.RemoteModel;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A model whose shards can stop responding. Calls that need a shard then wait until the shards respond again, even if the call is
 * cancelled.
 */
final class SilentShards {
    private static final Set<String> LOCAL = Set.of("facts", "dtype", "trainBytes", "allocate", "adopt", "flush",
        "goOn", "nextRound", "learnerImage", "resumeLearner", "close");

    /** The calls that had to wait, in order. Each call adds {@code begin NAME} and {@code end NAME}. */
    final List<String> calls = new CopyOnWriteArrayList<>();
    final RemoteModel model;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean silent;
    private int waiting;

    SilentShards(RemoteModel shards) {
        model = (RemoteModel) Proxy.newProxyInstance(RemoteModel.class.getClassLoader(),
            new Class<?>[]{RemoteModel.class}, (proxy, method, arguments) -> {
                boolean waited = !LOCAL.contains(method.getName()) && waits(method.getName());
                try {
                    return method.invoke(shards, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                } finally {
                    if (waited) {
                        calls.add("end " + method.getName());
                    }
                }
            });
    }

    private boolean waits(String name) {
        lock.lock();
        try {
            boolean waits = silent;
            if (waits) {
                calls.add("begin " + name);
                waiting++;
            }
            while (silent) {
                changed.awaitUninterruptibly();
            }
            waiting -= waits ? 1 : 0;
            return waits;
        } finally {
            lock.unlock();
        }
    }

    void silent(boolean value) {
        lock.lock();
        try {
            silent = value;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of calls that wait. */
    int waiting() {
        lock.lock();
        try {
            return waiting;
        } finally {
            lock.unlock();
        }
    }

    void awaitWaiting() throws Exception {
        await("a call waits for the shards", () -> waiting() > 0);
    }
}
