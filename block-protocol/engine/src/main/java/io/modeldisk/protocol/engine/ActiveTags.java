package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.pdu.Pdu;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The initiator task tags of a session's tasks, one for each slot. The tag of a task is removed before its status is sent. All
 * tags are in one small array, because the tag of each new command is compared with all tags. Thread-safe.
 */
final class ActiveTags {
    private final AtomicIntegerArray tags;

    ActiveTags(int slots) {
        tags = new AtomicIntegerArray(slots);
        for (int slot = 0; slot < slots; slot++) {
            remove(slot);
        }
    }

    /** Records the tag of a task that begins in a slot. The tag must not be {@link Pdu#RESERVED_TAG}. */
    void add(int slot, int tag) {
        tags.setRelease(slot, tag);
    }

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
