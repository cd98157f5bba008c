package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.pdu.Pdu;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The initiator task tags of a session's tasks without a status, by slot. They lie in one array because each new command is
 * compared with all of them, while gradients pass through the cache. Thread-safe.
 */
final class ActiveTags {
    private final AtomicIntegerArray tags;

    /** No tags, for {@code slots} slots. */
    ActiveTags(int slots) {
        tags = new AtomicIntegerArray(slots);
        for (int slot = 0; slot < slots; slot++) {
            remove(slot);
        }
    }

    /** A task begins in a slot. Its tag is not the reserved one. */
    void add(int slot, int tag) {
        tags.setRelease(slot, tag);
    }

    /** The slot's task has a status, or is gone. */
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
