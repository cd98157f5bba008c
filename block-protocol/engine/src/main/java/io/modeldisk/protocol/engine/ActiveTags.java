package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.pdu.Pdu;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The initiator task tags of a session's tasks that have no status yet, by slot. They lie close together, since each command
 * that comes is compared with all of them while gradients go through the cache. Thread-safe.
 */
final class ActiveTags {
    private final AtomicIntegerArray tags;

    /** None, for so many slots. */
    ActiveTags(int slots) {
        tags = new AtomicIntegerArray(slots);
        for (int slot = 0; slot < slots; slot++) {
            remove(slot);
        }
    }

    /** The slot's task has this tag, which is not the reserved one. */
    void add(int slot, int tag) {
        tags.setRelease(slot, tag);
    }

    /** The slot's task has a status, or there is none. */
    void remove(int slot) {
        tags.setRelease(slot, Pdu.RESERVED_TAG);
    }

    boolean contains(int tag) {
        for (int slot = 0; slot < tags.length(); slot++) {
            if (tags.getAcquire(slot) == tag) {
                return true;
            }
        }
        return false;
    }
}
