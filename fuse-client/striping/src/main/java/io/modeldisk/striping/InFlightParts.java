package io.modeldisk.striping;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;

/** The parts of a call that are in flight, by shard and by slot of the session. Guarded by the lock of {@link PartQueue}. */
final class InFlightParts {
    private final int queueDepth;
    private final Part[] parts;
    private int count;

    InFlightParts(int shards, int queueDepth) {
        this.queueDepth = queueDepth;
        this.parts = new Part[shards * queueDepth];
    }

    /** The maximum number of parts in flight. */
    int capacity() {
        return parts.length;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /**
     * Adds a part. Returns false if a command of an earlier session still occupies the slot, because its completion handler was
     * not called yet.
     */
    boolean add(Part part, int shard, IscsiSession session, IoRequest request) {
        int index = shard * queueDepth + request.slot();
        if (parts[index] != null) {
            return false;
        }
        parts[index] = part;
        part.session = session;
        part.request = request;
        part.tag = request.initiatorTaskTag();
        count++;
        return true;
    }

    /** Removes and returns the part that a request carries. */
    Part remove(int shard, IoRequest request) {
        int index = shard * queueDepth + request.slot();
        Part part = parts[index];
        parts[index] = null;
        part.session = null;
        part.request = null;
        count--;
        return part;
    }

    /** Returns the part at an index from 0 to {@link #capacity} - 1; null if the index is free. */
    Part at(int index) {
        return parts[index];
    }
}
