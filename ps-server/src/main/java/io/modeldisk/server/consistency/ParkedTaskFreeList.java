package io.modeldisk.server.consistency;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.server.block.Block;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The free list of entries for waiting tasks. The list grows to the maximum number of tasks that waited at the same time. The
 * command windows of the sessions limit this number. Thread-safe.
 */
final class ParkedTaskFreeList {
    private final AtomicInteger waiting = new AtomicInteger();
    private ParkedTask free;

    /**
     * Adds a task to the list of a block, whose lock the caller holds. Does nothing if the task is in the list already. The
     * engine reuses task objects. If a thread resumes the previous command of a task object late, the engine tries the new
     * command of the object again, although that command already waits.
     */
    void park(IoTask task, ParkedTasks list) {
        if (!list.contains(task)) {
            ParkedTask parked = take();
            parked.task = task;
            waiting.incrementAndGet();
            list.add(parked);
        }
    }

    /** Returns an entry to the free list. The entry must not be in the list of a block. */
    void release(ParkedTask parked) {
        parked.task = null;
        waiting.decrementAndGet();
        put(parked);
    }

    /** Removes a task from the list of a block. Does nothing if the task is not in the list. */
    void forget(IoTask task, Block block, ParkedTasks list) {
        ParkedTask parked;
        try (ScopedLock.Held _ = block.hold()) {
            parked = list.remove(task);
        }
        if (parked != null) {
            release(parked);
        }
    }

    /** Resumes all tasks of a chain. No entry of the chain may be in the list of a block. The caller holds no lock. */
    void resumeAll(ParkedTask chain) {
        ParkedTask each = chain;
        while (each != null) {
            ParkedTask next = each.next;
            IoTask task = each.task;
            release(each);
            task.resume();
            each = next;
        }
    }

    int waiting() {
        return waiting.get();
    }

    private synchronized ParkedTask take() {
        ParkedTask parked = free;
        if (parked == null) {
            return new ParkedTask();
        }
        free = parked.next;
        parked.next = null;
        return parked;
    }

    private synchronized void put(ParkedTask parked) {
        parked.next = free;
        free = parked;
    }
}
