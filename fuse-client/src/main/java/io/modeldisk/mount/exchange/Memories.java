package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies ranges of {@link DataMemory} and sets ranges to zero. A range can extend over several slabs. Allocates no memory for a
 * range within one slab.
 */
public final class Memories {
    private Memories() {}

    /** Copies a range. */
    public static void copy(DataMemory from, long fromOffset, DataMemory to, long toOffset, long lengthBytes) {
        long done = 0;
        while (done < lengthBytes) {
            long source = fromOffset + done;
            long target = toOffset + done;
            long part = Math.min(lengthBytes - done,
                Math.min(from.bytesLeftInSlab(source), to.bytesLeftInSlab(target)));
            MemorySegment.copy(from.slab(source), DataMemory.offsetInSlab(source), to.slab(target),
                DataMemory.offsetInSlab(target), part);
            done += part;
        }
    }

    /** Copies a range of an array. The target range must lie within one slab. */
    public static void copy(byte[] from, int fromOffset, DataMemory to, long toOffset, int lengthBytes) {
        MemorySegment.copy(from, fromOffset, to.slab(toOffset), ValueLayout.JAVA_BYTE,
            DataMemory.offsetInSlab(toOffset), lengthBytes);
    }

    /** Sets a range to zero. */
    public static void zero(DataMemory memory, long offset, long lengthBytes) {
        long done = 0;
        while (done < lengthBytes) {
            long part = Math.min(lengthBytes - done, memory.bytesLeftInSlab(offset + done));
            memory.segment(offset + done, part).fill((byte) 0);
            done += part;
        }
    }
}
