package io.modeldisk.protocol.engine;

/** The tasks of one session (SAM-5 section 4.6.2). Finds tasks, and ends tasks that must not continue. */
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
     * Acquires a slot, or waits for a slot that is about to be freed. Returns null if no slot is free.
     *
     * <p>Called by the receiver thread. Only this thread is notified when a Put_Data completes, so this method also ends tasks
     * whose last Put_Data is in progress.
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

    /**
     * Aborts all tasks with a tag. Several tasks can have the same tag, because an initiator can reuse a tag while the target
     * still sends the status of an earlier task. Returns whether a task was found.
     */
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

    /** Aborts a task and waits until its slot is free, so the MaxCmdSN in the response to the abort includes the slot. */
    private void abortNow(TaskSlot task) {
        boolean awaitsData;
        boolean put;
        synchronized (task) {
            task.endFor(EndReason.ABORTED);
            // Only the receiver thread receives data. No data can arrive now, because the receiver thread runs this method.
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
            // The responder thread runs the task, which must end before the initiator gets the response to the abort.
            window.awaitEnd(task);
        }
    }

    /** Aborts all tasks on a logical unit, or all tasks of the session if {@code unit} is null. Called by the receiver thread. */
    void abort(LogicalUnit unit) {
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            if (task.isActive() && (unit == null || task.command.unit == unit)) {
                abortNow(task);
            }
        }
    }

    /**
     * Ends all tasks on a logical unit, or all tasks if {@code unit} is null, for a reason outside this session. A task that
     * waits for data ends when the data has arrived. Can be called by any thread.
     */
    void end(EndReason reason, LogicalUnit unit) {
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            long generation = task.generation();
            LogicalUnit its = task.command.unit;
            if (task.isActive() && its != null && (unit == null || its == unit) && task.endFor(reason, generation)) {
                task.resume();
            }
        }
    }

    /** Ends tasks that have waited too long. Returns whether data from the initiator is overdue. Called by the watchdog. */
    boolean tick(long nowNs, long dataLimitNs, long waitLimitNs) {
        boolean overdue = false;
        for (int i = 0; i < window.slotCount(); i++) {
            TaskSlot task = window.slot(i);
            long generation = task.generation();
            // The state is read first, because a task clears waitingSinceNs before its state changes. In the opposite order, an
            // earlier wait could appear to belong to the state RUNNING, and the task would wrongly end with BUSY.
            TaskState state = task.state();
            long sinceNs = task.waitingSinceNs();
            if (sinceNs == 0) {
                continue;
            }
            switch (state) {
                case AWAITING_DATA -> overdue |= nowNs - sinceNs > dataLimitNs;
                case AWAITING_MEMORY -> {
                    // No limit applies, because the task waits for memory of the target and not for its initiator.
                }
                default -> {
                    if (nowNs - sinceNs > waitLimitNs && task.endFor(EndReason.EXPIRED, generation)) {
                        task.resume();
                    }
                }
            }
        }
        return overdue;
    }

    /** Frees all slots when no other thread serves the session. Units can still call {@link TaskSlot#resume} afterwards. */
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
