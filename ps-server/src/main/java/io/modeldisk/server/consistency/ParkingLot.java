package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.server.block.Block;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The links for waiting tasks, used again and again: as many are ever made as tasks waited at the same time, which the
 * sessions' windows bound. Thread-safe.
 */
final class ParkingLot {
    private final AtomicInteger waiting = new AtomicInteger();
    private ParkedTask free;

    ParkedTask park(IoTask task) {
        ParkedTask parked = take();
        parked.task = task;
        waiting.incrementAndGet();
        return parked;
    }

    /** Gives a link back that is on no list any more. */
    void release(ParkedTask parked) {
        parked.task = null;
        waiting.decrementAndGet();
        put(parked);
    }

    /** Takes a task off a block's list, if it is there. */
    void forget(IoTask task, Block block, ParkedTasks list) {
        ParkedTask parked;
        block.lock();
        try {
            parked = list.remove(task);
        } finally {
            block.unlock();
        }
        if (parked != null) {
            release(parked);
        }
    }

    /** Resumes a chain of tasks that were taken off their lists. Called without any lock held. */
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
