package io.modeldisk.server.block;

/** The stack of free slots. Thread-safe. Allocates no memory after construction. */
final class SpareSlots {
    private final BlockSlot[] slots;
    private int count;

    SpareSlots(int capacity) {
        this.slots = new BlockSlot[capacity];
    }

    synchronized void put(BlockSlot slot) {
        slots[count++] = slot;
    }

    /** Removes and returns a slot. A slot is always free: see {@link BlockStore}. */
    synchronized BlockSlot take() {
        if (count == 0) {
            throw new IllegalStateException(
                "all " + slots.length + " spare slots are in use: a slot is pinned without a permit");
        }
        BlockSlot slot = slots[--count];
        slots[count] = null;
        return slot;
    }

    synchronized int count() {
        return count;
    }
}
