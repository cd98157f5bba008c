package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.striping.RemoteModel;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;

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
    /** The number of calls that wait. */
    final AtomicInteger waiting = new AtomicInteger();
    private final ScopedLock lock = new ScopedLock();
    private final Condition changed = lock.newCondition();
    private boolean silent;

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
        try (ScopedLock.Held _ = lock.hold()) {
            if (!silent) {
                return false;
            }
            calls.add("begin " + name);
            waiting.incrementAndGet();
            while (silent) {
                changed.awaitUninterruptibly();
            }
            waiting.decrementAndGet();
            return true;
        }
    }

    void silent(boolean value) {
        try (ScopedLock.Held _ = lock.hold()) {
            silent = value;
            changed.signalAll();
        }
    }

    void awaitWaiting() throws Exception {
        await("a call waits for the shards", () -> waiting.get() > 0);
    }
}
