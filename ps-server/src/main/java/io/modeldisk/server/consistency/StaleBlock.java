package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.server.block.Block;

/** The pulls that wait at a block for learners that are behind. Guarded by the block's lock. */
final class StaleBlock {
    private final Block block;
    private final ParkedTasks parked = new ParkedTasks();
    /** No parked task can go ahead while the least clock is not above this. */
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

    /** Keeps a task for which the least clock is too low now. */
    void park(IoTask task, long least, ParkedTaskFreeList parking) {
        leastWhenParked = parked.isEmpty() ? least : Math.min(leastWhenParked, least);
        // A task that was resumed without cause may still be there.
        if (!parked.contains(task)) {
            parked.add(parking.park(task));
        }
    }

    /** Takes all off if the least clock has risen; null if it has not. */
    ParkedTask detachIfAbove(long least) {
        return least > leastWhenParked ? detachAll() : null;
    }

    ParkedTask detachAll() {
        return parked.detachBefore(null);
    }
}
