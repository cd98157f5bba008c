package io.modeldisk.server.block;

import io.modeldisk.protocol.engine.IoTask;
import java.util.ArrayList;
import java.util.List;

/**
 * The tasks that wait until the lowest version of all blocks differs from the version in their command. While tasks wait, one
 * block with the lowest version is watched, so an update of any other block costs only one comparison. Thread-safe.
 */
public final class VersionWaits {
    private final BlockVersions versions;
    // Guarded by this. A session has few tasks, so the list is short.
    private final List<Wait> waits = new ArrayList<>();

    /** A task that waits while the lowest version is {@code known}. */
    private record Wait(IoTask task, long known) {}

    VersionWaits(BlockVersions versions) {
        this.versions = versions;
        versions.onReached(this::reached);
    }

    /** Returns whether the lowest version differs from {@link IoTask#round()}. Otherwise, the task waits for another version. */
    public synchronized boolean admit(IoTask task) {
        remove(task);
        long known = task.round();
        boolean differs = versions.watchLowest() != known;
        if (!differs) {
            waits.add(new Wait(task, known));
        }
        unwatchIfIdle();
        return differs;
    }

    /** Removes a task from the waiting tasks. Does nothing if the task does not wait. */
    public synchronized void forget(IoTask task) {
        if (remove(task)) {
            unwatchIfIdle();
        }
    }

    /** The number of waiting tasks. */
    public synchronized int waiting() {
        return waits.size();
    }

    /** Resumes the tasks whose version is no longer the lowest. Called by a thread that holds the lock of a block. */
    private synchronized void reached() {
        if (!waits.isEmpty()) {
            long lowest = versions.watchLowest();
            for (int i = waits.size() - 1; i >= 0; i--) {
                if (waits.get(i).known() != lowest) {
                    // The lock of a block is held, but this call is fast: it only puts the task into a queue.
                    waits.remove(i).task().resume();
                }
            }
        }
        unwatchIfIdle();
    }

    private boolean remove(IoTask task) {
        return waits.removeIf(wait -> wait.task() == task);
    }

    private void unwatchIfIdle() {
        if (waits.isEmpty()) {
            versions.unwatch();
        }
    }
}
