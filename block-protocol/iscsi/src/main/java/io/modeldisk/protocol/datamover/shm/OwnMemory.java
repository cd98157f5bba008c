package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * The slabs of the initiator's memory that are registered with the target, each under a steering tag. A slab is registered when a
 * command first uses the slab. The caller of each method holds the lock of the {@link FrameWriter}.
 */
final class OwnMemory {
    private final FrameWriter writer;
    private final DataMemory[] memories = new DataMemory[PeerMemory.MAX_TAGS];
    private final int[] slabs = new int[PeerMemory.MAX_TAGS];

    OwnMemory(FrameWriter writer) {
        this.writer = writer;
    }

    /**
     * Returns the steering tag of the slab that holds the byte at {@code offset}. Registers the slab at its first use.
     *
     * @throws IllegalArgumentException if the memory is not shareable, or {@link PeerMemory#MAX_TAGS} slabs are already
     *     registered
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
        Arguments.require(memory.isShareable(),
            "the data is not in shareable memory; allocate it with DataMemory.allocateShareable");
        invalidateClosed();
        int tag = find(null, 0);
        Arguments.require(tag >= 0, "the connection already uses " + PeerMemory.MAX_TAGS
            + " slabs of shareable memory (up to 1 GiB each), which is the limit; close unused memory");
        writer.send(Frame.REGISTER, tag, (long) slab * DataMemory.SLAB_BYTES, memory.descriptor());
        memories[tag] = memory;
        slabs[tag] = slab;
        return tag;
    }

    /** Invalidates the steering tags of memory that was closed. */
    private void invalidateClosed() throws IOException {
        for (int tag = 0; tag < memories.length; tag++) {
            if (memories[tag] != null && !memories[tag].isOpen()) {
                writer.send(Frame.INVALIDATE, tag, 0, -1);
                memories[tag] = null;
                slabs[tag] = 0;
            }
        }
    }
}
