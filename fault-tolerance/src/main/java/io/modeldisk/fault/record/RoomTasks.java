package io.modeldisk.fault.record;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import java.util.ArrayList;
import java.util.List;

/**
 * The writes that wait for room in the buffers of a {@link RecordLog}, and the synchronizations that wait for these writes. A
 * write stays here until it is accepted, refused or forgotten, even while it is tried again, so no synchronization overtakes an
 * earlier write of its nexus. Guarded by the lock of the log.
 */
final class RoomTasks {
    private final List<IoTask> writes = new ArrayList<>();
    private final List<IoTask> synchronizations = new ArrayList<>();

    /** Adds a write that must wait. Does nothing if the write was added before. */
    void add(IoTask write) {
        if (!writes.contains(write)) {
            writes.add(write);
        }
    }

    boolean isEmpty() {
        return writes.isEmpty();
    }

    /** Returns whether no write of this nexus waits. Otherwise, keeps the synchronization until {@link #remove}. */
    boolean admit(IoTask synchronization) {
        Nexus nexus = synchronization.nexus();
        for (int i = 0; i < writes.size(); i++) {
            if (writes.get(i).nexus().equals(nexus)) {
                if (!synchronizations.contains(synchronization)) {
                    synchronizations.add(synchronization);
                }
                return false;
            }
        }
        return true;
    }

    /** Removes a task. Returns the synchronizations that must be tried again. */
    List<IoTask> remove(IoTask task) {
        synchronizations.remove(task);
        if (!writes.remove(task) || synchronizations.isEmpty()) {
            return List.of();
        }
        List<IoTask> released = List.copyOf(synchronizations);
        synchronizations.clear();
        return released;
    }

    /** Returns all writes that wait. */
    List<IoTask> writes() {
        return List.copyOf(writes);
    }
}
