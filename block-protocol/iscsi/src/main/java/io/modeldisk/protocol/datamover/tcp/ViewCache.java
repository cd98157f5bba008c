package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.protocol.memory.DataMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Caches the byte buffers over each {@link DataMemory} that a connection uses. Only one thread at a time may use a cache. */
final class ViewCache {
    private DataMemory[] memories = new DataMemory[4];
    private ByteBuffer[][] views = new ByteBuffer[4][];
    private int count;

    ByteBuffer[] of(DataMemory memory) {
        for (int i = 0; i < count; i++) {
            if (memories[i] == memory) {
                return views[i];
            }
        }
        return add(memory);
    }

    private ByteBuffer[] add(DataMemory memory) {
        if (count == memories.length) {
            memories = Arrays.copyOf(memories, count * 2);
            views = Arrays.copyOf(views, count * 2);
        }
        memories[count] = memory;
        views[count] = memory.newViews();
        return views[count++];
    }
}
