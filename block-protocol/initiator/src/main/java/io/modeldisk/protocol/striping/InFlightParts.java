package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;

/** The parts of a call that are in flight, by shard and by slot of the session. Guarded by the {@link PartQueue}'s lock. */
final class InFlightParts {
    private final int queueDepth;
    private final Part[] parts;
    private int count;

    InFlightParts(int shards, int queueDepth) {
        this.queueDepth = queueDepth;
        this.parts = new Part[shards * queueDepth];
    }

    /** How many parts fit. */
    int capacity() {
        return parts.length;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Adds a part; false if a command of an earlier session has this slot and its end is still to be reported. */
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

    /** Removes the part that a request carries. */
    Part remove(int shard, IoRequest request) {
        int index = shard * queueDepth + request.slot();
        Part part = parts[index];
        parts[index] = null;
        part.session = null;
        part.request = null;
        count--;
        return part;
    }

    /** The part at a place from 0 to {@link #capacity} - 1; null if it is free. */
    Part at(int index) {
        return parts[index];
    }
}
