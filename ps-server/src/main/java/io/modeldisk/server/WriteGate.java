package io.modeldisk.server;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import io.modeldisk.server.record.RoomTasks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Admits the writes of a shard until the shard saves its weights for the last time. Later writes wait, so that the shard
 * acknowledges no write that the last checkpoint lacks. When the checkpoint is complete, they {@linkplain #refuse end without an
 * effect}, or before with BUSY. The initiators send them again when the shard serves again. Thread-safe.
 */
final class WriteGate {
    /** The time for which {@link #close} waits for the writes in progress. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final NanoClock clock;
    /** The number of writes in progress. A write counts itself before it checks that the gate is open. */
    private final AtomicInteger inside = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition left = lock.newCondition();
    /** The writes that wait. Guarded by the lock. */
    private final RoomTasks held = new RoomTasks();
    private volatile boolean closed;
    private volatile boolean refusing;

    WriteGate(NanoClock clock) {
        this.clock = clock;
    }

    /**
     * Returns whether a write may proceed; the caller then calls {@link #leave}. Otherwise the write waits.
     *
     * @throws ScsiException if the shard is about to close its connections; the initiator sends the write again
     */
    boolean enter(IoTask write) throws ScsiException {
        inside.incrementAndGet();
        if (!closed) {
            return true;
        }
        leave();
        lock.lock();
        try {
            if (refusing) {
                throw new ScsiException(Sense.ACCESS_STATE_CHANGED, "the shard stops");
            }
            held.add(write);
        } finally {
            lock.unlock();
        }
        return false;
    }

    /** Records that a write that has entered is taken, refused, or waits elsewhere. */
    void leave() {
        if (inside.decrementAndGet() == 0 && closed) {
            lock.lock();
            try {
                left.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Returns whether no write of the task's nexus waits here. Otherwise the synchronization waits until these writes are
     * forgotten.
     */
    boolean admitSynchronization(IoTask task) {
        if (!closed) {
            return true;
        }
        lock.lock();
        try {
            return held.admit(task);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends all writes, those that wait and later ones, with a unit attention: they have had no effect. A write that got no answer
     * before its connection is closed would leave its initiator in doubt. Called before the connections are closed.
     */
    void refuse() {
        List<IoTask> waiting;
        lock.lock();
        try {
            refusing = true;
            waiting = held.writes();
        } finally {
            lock.unlock();
        }
        waiting.forEach(write -> {
            forget(write);
            write.resume();
        });
    }

    /** Removes a task. Does nothing if the task does not wait here. */
    void forget(IoTask task) {
        if (!closed) {
            return;
        }
        List<IoTask> synchronizations;
        lock.lock();
        try {
            synchronizations = held.remove(task);
        } finally {
            lock.unlock();
        }
        synchronizations.forEach(IoTask::resume);
    }

    /** Makes all later writes wait. Waits until no write is in progress, at most 10 s. */
    void close() throws InterruptedException {
        lock.lock();
        try {
            closed = true;
            long deadlineNs = clock.nanoTime() + TIMEOUT.toNanos();
            boolean inTime = true;
            while (inside.get() > 0 && inTime) {
                inTime = clock.awaitUntil(left, deadlineNs);
            }
        } finally {
            lock.unlock();
        }
    }
}
