package io.modeldisk.fault.record;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.ArrayList;
import java.util.List;

/**
 * The room that writes have reserved in the buffers of a {@link RecordLog}, the writes that wait for room, and the
 * synchronizations that wait for these writes. A write stays here until it is accepted, refused or forgotten, even while it is
 * tried again, so no synchronization overtakes an earlier write of its nexus. Guarded by the lock of the log.
 */
final class RoomTasks {
    /** The part of a buffer that {@link #reserve} leaves free: one eighth. */
    private static final int UNRESERVED_PART = 8;
    /**
     * The room that a write reserves for each logical block: at most one record with the gradient, one that only counts
     * the gradient for its round, one that closes the round, and a part of the BLOCK record of a checkpoint.
     */
    private static final int RESERVED_BYTES = 2 * LogicalBlock.BYTES + 4 * RecordHeader.BYTES;

    private long reserved;
    private final List<IoTask> writes = new ArrayList<>();
    private final List<IoTask> synchronizations = new ArrayList<>();

    /** Reserves room for the records of a write. If there is no room besides the used bytes, the write waits. */
    boolean reserve(IoTask write, int usedBytes, int bufferBytes) {
        long bytes = reservedBytes(write);
        boolean fits = usedBytes + reserved + bytes <= bufferBytes - bufferBytes / UNRESERVED_PART
            || usedBytes + reserved == 0;
        if (fits) {
            reserved += bytes;
        } else if (!writes.contains(write)) {
            writes.add(write);
        }
        return fits;
    }

    private static long reservedBytes(IoTask write) {
        return (write.lengthBytes() / LogicalBlock.BYTES + 1L) * RESERVED_BYTES;
    }

    /** The bytes that writes have reserved. */
    long reserved() {
        return reserved;
    }

    /** Releases the room of a write, and removes it. Returns the synchronizations that must be tried again. */
    List<IoTask> release(IoTask write) {
        reserved -= reservedBytes(write);
        return remove(write);
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
