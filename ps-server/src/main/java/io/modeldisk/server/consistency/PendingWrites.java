package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;
import java.util.ArrayList;
import java.util.List;

/**
 * The waiting writes of a learner, and the synchronizations that wait for these writes. The command window of the session limits
 * the number of writes and synchronizations. Thread-safe.
 */
final class PendingWrites {
    private final List<IoTask> writes = new ArrayList<>();
    private final List<IoTask> synchronizations = new ArrayList<>();
    // Read without the lock, so the usual case, in which no write waits, is fast.
    private volatile int count;

    /** Adds a waiting write. Does nothing if the write was added before. */
    synchronized void add(IoTask write) {
        if (!writes.contains(write)) {
            writes.add(write);
            count++;
        }
    }

    /** Returns true if no write waits. Otherwise, the removal of the last waiting write resumes the synchronization. */
    synchronized boolean admit(IoTask synchronization) {
        if (count > 0 && !synchronizations.contains(synchronization)) {
            synchronizations.add(synchronization);
        }
        return count == 0;
    }

    /** Removes an accepted or forgotten write. If no other write waits, resumes all synchronizations. Called without a lock. */
    void remove(IoTask write) {
        if (count > 0) {
            takeReleasedBy(write).forEach(IoTask::resume);
        }
    }

    private synchronized List<IoTask> takeReleasedBy(IoTask write) {
        if (!writes.remove(write)) {
            return List.of();
        }
        count--;
        if (count > 0 || synchronizations.isEmpty()) {
            return List.of();
        }
        List<IoTask> released = List.copyOf(synchronizations);
        synchronizations.clear();
        return released;
    }

    /** Removes a synchronization if it waits. */
    synchronized void forgetSynchronization(IoTask synchronization) {
        synchronizations.remove(synchronization);
    }
}
