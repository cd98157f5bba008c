package io.modeldisk.bench.load;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The weights that a benchmark's model starts from: in each logical block the block's number, so that a mix-up shows. */
public final class Pattern {
    /** The size of a logical block. */
    public static final int LOGICAL_BLOCK_BYTES = 4096;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private Pattern() {}

    /** Writes the weights from {@code modelOffset} on; both offsets and the length are multiples of 4096. */
    public static void fill(DataMemory memory, long memoryOffset, long modelOffset, long lengthBytes) {
        for (long at = 0; at < lengthBytes; at += LOGICAL_BLOCK_BYTES) {
            MemorySegment block = memory.segment(memoryOffset + at, LOGICAL_BLOCK_BYTES);
            float value = (modelOffset + at) / LOGICAL_BLOCK_BYTES;
            for (int i = 0; i < LOGICAL_BLOCK_BYTES; i += Float.BYTES) {
                block.set(FLOAT, i, value);
            }
        }
    }

    /**
     * Checks weights against the pattern, the first and the last of each logical block.
     *
     * @throws IOException if they are others, saying which
     */
    public static void check(DataMemory memory, long memoryOffset, long modelOffset, long lengthBytes)
        throws IOException {
        for (long at = 0; at < lengthBytes; at += LOGICAL_BLOCK_BYTES) {
            long length = Math.min(LOGICAL_BLOCK_BYTES, lengthBytes - at);
            float value = (modelOffset + at) / LOGICAL_BLOCK_BYTES;
            if (length >= Float.BYTES) {
                MemorySegment block = memory.segment(memoryOffset + at, length);
                check(block.get(FLOAT, 0), value, modelOffset + at);
                check(block.get(FLOAT, (length - Float.BYTES) & -Float.BYTES), value, modelOffset + at);
            }
        }
    }

    private static void check(float found, float right, long modelOffset) throws IOException {
        if (found != right) {
            throw new IOException("the weights pulled from offset " + modelOffset + " are " + found
                + " where they must be " + right);
        }
    }
}
