package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.memory.FiniteValues;

/** Checks of the data of pushes. */
public final class Gradients {
    private Gradients() {}

    /** Whether no value of a push is a NaN or an infinity. One pass over data that has just arrived, and so is in the cache. */
    public static boolean areFinite(IoTask push) {
        for (int piece = 0; piece < push.pieceCount(); piece++) {
            if (!FiniteValues.areIn(push.memory(), push.pieceOffset(piece), push.pieceLengthBytes(piece))) {
                return false;
            }
        }
        return true;
    }
}
