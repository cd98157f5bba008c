package io.modeldisk.server.block;

/** The slots that hold no block's data: a stack under a tiny lock. Thread-safe; allocates nothing after it is made. */
final class SpareSlots {
    private final BlockSlot[] slots;
    private int count;

    SpareSlots(int capacity) {
        this.slots = new BlockSlot[capacity];
    }

    synchronized void put(BlockSlot slot) {
        slots[count++] = slot;
    }

    /** Takes a slot: there is one, see {@link BlockStore}. */
    synchronized BlockSlot take() {
        if (count == 0) {
            throw new IllegalStateException(
                "no spare slot among " + slots.length + ": a slot is held without a pin permit");
        }
        BlockSlot slot = slots[--count];
        slots[count] = null;
        return slot;
    }

    synchronized int count() {
        return count;
    }
}
