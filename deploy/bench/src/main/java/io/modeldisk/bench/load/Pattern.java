package io.modeldisk.bench.load;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The initial weights of a benchmark's model. Each weight is the number of its logical block, so a check detects weights
 * from a wrong address.
 */
public final class Pattern {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private Pattern() {}

    /**
     * Fills memory with the weights of the model range that starts at {@code modelOffset}. Both offsets and the length are
     * multiples of 4096.
     */
    public static void fill(DataMemory memory, long memoryOffset, long modelOffset, long lengthBytes) {
        for (long at = 0; at < lengthBytes; at += LogicalBlock.BYTES) {
            MemorySegment block = memory.segment(memoryOffset + at, LogicalBlock.BYTES);
            float value = (modelOffset + at) / LogicalBlock.BYTES;
            for (int i = 0; i < LogicalBlock.BYTES; i += Float.BYTES) {
                block.set(FLOAT, i, value);
            }
        }
    }

    /**
     * Checks the first and the last weight of each logical block in a range of the model.
     *
     * @throws IOException if a weight is wrong; the message contains the weight and the offset of its logical block
     */
    public static void check(DataMemory memory, long memoryOffset, long modelOffset, long lengthBytes)
        throws IOException {
        for (long at = 0; at < lengthBytes; at += LogicalBlock.BYTES) {
            long length = Math.min(LogicalBlock.BYTES, lengthBytes - at);
            float value = (modelOffset + at) / LogicalBlock.BYTES;
            if (length >= Float.BYTES) {
                MemorySegment block = memory.segment(memoryOffset + at, length);
                check(block.get(FLOAT, 0), value, modelOffset + at);
                check(block.get(FLOAT, (length - Float.BYTES) & -Float.BYTES), value, modelOffset + at);
            }
        }
    }

    private static void check(float found, float right, long modelOffset) throws IOException {
        if (found != right) {
            throw new IOException("a weight in the logical block at offset " + modelOffset + " is " + found
                + " instead of " + right);
        }
    }
}
