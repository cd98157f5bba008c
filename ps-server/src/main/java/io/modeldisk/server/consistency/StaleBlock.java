package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.server.block.Block;

/** The pulls that wait at a block for learners that are behind. Guarded by the block's lock. */
final class StaleBlock {
    private final Block block;
    private final ParkedTasks parked = new ParkedTasks();
    /** No waiting task can be admitted before the lowest clock rises above this value. */
    private long leastWhenParked;

    StaleBlock(Block block) {
        this.block = block;
    }

    Block block() {
        return block;
    }

    ParkedTasks parked() {
        return parked;
    }

    boolean hasParked() {
        return !parked.isEmpty();
    }

    /** Adds a task that waits until the lowest clock rises above {@code least}. */
    void park(IoTask task, long least, ParkedTaskFreeList parking) {
        leastWhenParked = parked.isEmpty() ? least : Math.min(leastWhenParked, least);
        // The task may already be in the list. A thread may resume the previous command of a task object late, when the object
        // already has a new command that waits. Then the engine tries the waiting command again.
        if (!parked.contains(task)) {
            parked.add(parking.park(task));
        }
    }

    /** Removes and returns all waiting tasks if {@code least} is above {@code leastWhenParked}; otherwise returns null. */
    ParkedTask detachIfAbove(long least) {
        return least > leastWhenParked ? detachAll() : null;
    }

    ParkedTask detachAll() {
        return parked.detachBefore(null);
    }
}
