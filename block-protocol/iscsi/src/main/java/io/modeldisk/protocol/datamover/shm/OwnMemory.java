package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * The memory of this initiator that its target has mapped, by steering tag. A slab is registered at its first use. For the thread
 * that holds the lock for sending.
 */
final class OwnMemory {
    private final FrameWriter writer;
    private final DataMemory[] memories = new DataMemory[PeerMemory.MAX_TAGS];
    private final int[] slabs = new int[PeerMemory.MAX_TAGS];

    OwnMemory(FrameWriter writer) {
        this.writer = writer;
    }

    /**
     * The steering tag of the slab that holds the byte at {@code offset}.
     *
     * @throws IllegalArgumentException if the memory is not shareable, or the target maps no more slabs
     * @throws IOException if the connection is lost
     */
    int tagOf(DataMemory memory, long offset) throws IOException {
        int slab = DataMemory.slabIndex(offset);
        int tag = find(memory, slab);
        return tag >= 0 ? tag : register(memory, slab);
    }

    private int find(DataMemory memory, int slab) {
        for (int tag = 0; tag < memories.length; tag++) {
            if (memories[tag] == memory && slabs[tag] == slab) {
                return tag;
            }
        }
        return -1;
    }

    private int register(DataMemory memory, int slab) throws IOException {
        if (!memory.isShareable()) {
            throw new IllegalArgumentException(
                "data of a session over shared memory must lie in memory of DataMemory.allocateShareable");
        }
        invalidateClosed();
        int tag = find(null, 0);
        if (tag < 0) {
            throw new IllegalArgumentException("more than " + PeerMemory.MAX_TAGS
                + " slabs of shareable memory (1 GiB each) are in use over one connection");
        }
        writer.send(Frame.REGISTER, tag, memory.descriptor(slab));
        memories[tag] = memory;
        slabs[tag] = slab;
        return tag;
    }

    /** Invalidates the tags of memory that its owner has closed. */
    private void invalidateClosed() throws IOException {
        for (int tag = 0; tag < memories.length; tag++) {
            if (memories[tag] != null && !memories[tag].isOpen()) {
                writer.send(Frame.INVALIDATE, tag, -1);
                memories[tag] = null;
                slabs[tag] = 0;
            }
        }
    }
}
