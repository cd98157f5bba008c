package io.modeldisk.protocol.engine;

/** A session's tasks taken together (SAM-5 section 4.6.2): finds them, and ends those that are not to go on. */
final class TaskSet {
    private final CommandWindow window;
    private final BufferPool pool;
    private final TaskPutter putter;
    private final TaskEnd end;

    TaskSet(FullFeaturePhase.Setup setup, TaskPutter putter, TaskEnd end) {
        this.window = setup.window();
        this.pool = setup.pool();
        this.putter = putter;
        this.end = end;
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
        putter.putEnded(oldest);
    }

    /** Aborts the task with this tag, and one before it whose status is just going out; returns whether there was any. */
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

    /** Aborts a task of this session; when this returns its slot is free, so that the answer offers the room. */
    private void abortNow(TaskSlot task) {
        boolean awaitsData;
        boolean put;
        synchronized (task) {
            task.endFor(EndReason.ABORTED);
            // Only the receiver, which runs this, could see more of the data.
            awaitsData = task.state() == TaskState.AWAITING_DATA
                || task.state() == TaskState.AWAITING_MEMORY && pool.stopWaiting(task);
            put = task.takePut();
        }
        if (put) {
            putter.endPut(task);
        } else if (awaitsData) {
            end.free(task, false);
        } else if (task.takeParked()) {
            task.command.unit.forget(task);
            end.free(task, false);
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
            if (task.isActive() && (unit == null || task.command.unit == unit)) {
                abortNow(task);
            }
        }
    }

    /**
     * Ends all tasks on a unit, or all if {@code unit} is null, because another session wants it. One that waits for data ends
     * when the data has come. From any thread.
     */
    void abortForOther(LogicalUnit unit) {
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            LogicalUnit its = task.command.unit;
            if (task.isActive() && its != null && (unit == null || its == unit)) {
                task.endFor(EndReason.ABORTED_BY_OTHER);
                task.resume();
            }
        }
    }

    /** Bounds the waits; returns whether announced data is overdue. From the watchdog. */
    boolean tick(long nowNs, long dataLimitNs, long waitLimitNs) {
        boolean overdue = false;
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            // In this order: a task that goes on ends its wait before it changes its state.
            TaskState state = task.state();
            long sinceNs = task.waitingSinceNs();
            if (sinceNs == 0) {
                continue;
            }
            switch (state) {
                case AWAITING_DATA -> overdue |= nowNs - sinceNs > dataLimitNs;
                case AWAITING_MEMORY -> {
                    // It waits for this side, not for its initiator.
                }
                default -> {
                    if (nowNs - sinceNs > waitLimitNs) {
                        task.endFor(EndReason.EXPIRED);
                        task.resume();
                    }
                }
            }
        }
        return overdue;
    }

    /** Gives back the slot of every task; no other thread serves the session any more, but units may still resume tasks. */
    void abandonAll() {
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            if (task.isActive()) {
                abandon(task);
            }
        }
    }

    private void abandon(TaskSlot task) {
        pool.stopWaiting(task);
        if (task.command.unit != null) {
            task.command.unit.forget(task);
        }
        if (task.takePut()) {
            putter.endPut(task);
        } else {
            task.takeAbandoned();
            end.free(task, false);
        }
    }
}
