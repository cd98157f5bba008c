package io.modeldisk.server.fake;

import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.server.block.BlockStore;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads weights for assertions. */
public final class Weights {
    private static final int PAGE = 4096;

    private Weights() {}

    /** The weight at a byte offset of the shard. */
    public static float at(BlockStore store, long offset) {
        var block = store.block(store.layout().blockOf(offset));
        block.lock();
        try {
            return block.readable().weights().get(ValueLayout.JAVA_FLOAT, store.layout().offsetInBlock(offset));
        } finally {
            block.unlock();
        }
    }

    /** The pinned data. */
    public static MemorySegment of(Pin pin) {
        return pin.memory().segment(pin.offset(), pin.lengthBytes());
    }

    /** Returns the value that all weights of a pin have. Fails if the weights differ. */
    public static float uniform(Pin pin) {
        MemorySegment data = of(pin);
        float first = data.get(ValueLayout.JAVA_FLOAT, 0);
        for (long i = 0; i < data.byteSize(); i += Float.BYTES) {
            float value = data.get(ValueLayout.JAVA_FLOAT, i);
            if (value != first) {
                throw new AssertionError("torn read: weight is " + first + " at byte 0, " + value + " at byte " + i);
            }
        }
        return first;
    }

    /** Returns the lowest weight of a pin. Fails if the weights of one logical block differ. */
    public static float uniformByPage(Pin pin) {
        MemorySegment data = of(pin);
        float least = Float.MAX_VALUE;
        for (long page = 0; page < data.byteSize(); page += PAGE) {
            float first = data.get(ValueLayout.JAVA_FLOAT, page);
            for (long i = page; i < page + PAGE; i += Float.BYTES) {
                float value = data.get(ValueLayout.JAVA_FLOAT, i);
                if (value != first) {
                    throw new AssertionError(
                        "torn read: weight is " + first + " at byte " + page + ", " + value + " at byte " + i);
                }
            }
            least = Math.min(least, first);
        }
        return least;
    }
}
