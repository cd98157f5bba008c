package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.FloatKernels;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.memory.DataMemory;

/** Checks of the data of pushes. */
public final class Gradients {
    private Gradients() {}

    /** Whether no value of a push is a NaN or an infinity. One pass over data that has just arrived, and so is in the cache. */
    public static boolean areFinite(IoTask push) {
        for (int piece = 0; piece < push.pieceCount(); piece++) {
            long offset = push.pieceOffset(piece);
            int leftBytes = push.pieceLengthBytes(piece);
            while (leftBytes > 0) {
                int lengthBytes = Math.min(leftBytes, push.memory().bytesLeftInSlab(offset));
                if (!FloatKernels.isFinite(push.memory().slab(offset), DataMemory.offsetInSlab(offset), lengthBytes)) {
                    return false;
                }
                offset += lengthBytes;
                leftBytes -= lengthBytes;
            }
        }
        return true;
    }
}
