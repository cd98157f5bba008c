package io.modeldisk.protocol.engine;

/** A session's tasks taken together (SAM-5 section 4.6.2): finds them, and ends those that are not to go on. */
final class TaskSet {
    private final CommandWindow window;
    private final BufferPool pool;
    private final TaskRunner runner;

    TaskSet(CommandWindow window, BufferPool pool, TaskRunner runner) {
        this.window = window;
        this.pool = pool;
        this.runner = runner;
    }

    /**
     * Takes a slot for a command; waits if one is about to be free. Returns null if none is. Ends puts that are under way if
     * necessary: only the receiver, which runs this, is notified of their ends.
     */
    TaskSlot takeSlot() {
        while (window.awaitEnding()) {
            endOldestPut();
        }
        return window.take();
    }

    private void endOldestPut() {
        TaskSlot oldest = window.slot(0);
        for (int i = 1; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            oldest = task.putNumber() < oldest.putNumber() ? task : oldest;
        }
        if (oldest.takePutting()) {
            runner.endPut(oldest);
        }
    }

    /** Aborts the task with this tag, and one before it whose status is just going out; answers whether there was any. */
    boolean abort(int initiatorTaskTag) {
        boolean found = false;
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            if (task.isActive() && task.transfer.initiatorTaskTag() == initiatorTaskTag) {
                abortNow(task);
                found = true;
            }
        }
        return found;
    }

    /** Aborts a task of this session, at once if it waits for anything: then the answer tells of the room that it leaves. */
    private void abortNow(TaskSlot task) {
        boolean mine;
        boolean put;
        synchronized (task) {
            task.aborted = true;
            // The receiver, which runs this, is the only one who could see more of the data.
            mine = task.waitsForData && (task.fetching || pool.stopWaiting(task));
            put = task.takePutting();
        }
        if (put) {
            runner.endPut(task);
        } else if (mine) {
            runner.free(task, false);
        } else if (task.takeParked()) {
            task.unit.forget(task);
            runner.free(task, false);
        } else {
            task.resume();
            // The responder has it: the initiator hears that it is over when its memory is not touched any more.
            window.awaitEnd(task);
        }
    }

    /** Aborts all tasks on a unit, or all if {@code unit} is null; for the receiver. */
    void abort(LogicalUnit unit) {
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            if (task.isActive() && (unit == null || task.unit == unit)) {
                abortNow(task);
            }
        }
    }

    /**
     * Ends all tasks on a unit, or all if {@code unit} is null, because another session wants it: with TASK ABORTED, as the TAS
     * bit of the Control mode page says. One that waits for data ends when that is there. From any thread.
     */
    void abortForOther(LogicalUnit unit) {
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            if (task.isActive() && task.unit != null && (unit == null || task.unit == unit)) {
                task.abortedByOther = true;
                task.resume();
            }
        }
    }

    /** Bounds the waits; answers whether announced data is overdue. */
    boolean tick(long now, long dataLimitNanos, long waitLimitNanos) {
        boolean overdue = false;
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            long since = task.waitingSinceNanos;
            if (since == 0) {
                continue;
            }
            if (task.waitsForData) {
                // One that is in line for memory waits for this side, not for its initiator.
                overdue |= task.fetching && now - since > dataLimitNanos;
            } else if (now - since > waitLimitNanos) {
                task.expired = true;
                task.resume();
            }
        }
        return overdue;
    }

    /** Lets go of every task; no other thread serves the session any more, but logical units may still resume tasks. */
    void abandonAll() {
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            if (task.isActive()) {
                pool.stopWaiting(task);
                if (task.unit != null) {
                    task.unit.forget(task);
                }
                if (task.takePutting()) {
                    runner.endPut(task);
                } else {
                    runner.free(task, false);
                }
            }
        }
    }
}
