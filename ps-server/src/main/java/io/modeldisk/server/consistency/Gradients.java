package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;

/** Checks the gradients of pushes. */
public final class Gradients {
    private Gradients() {}

    /** Returns whether all values of a push are finite. Reads the data once, usually from the CPU cache. */
    public static boolean areFinite(IoTask push) {
        for (int piece = 0; piece < push.pieceCount(); piece++) {
            if (!push.valueType().areFinite(push.memory(), push.pieceOffset(piece), push.pieceLengthBytes(piece))) {
                return false;
            }
        }
        return true;
    }
}
