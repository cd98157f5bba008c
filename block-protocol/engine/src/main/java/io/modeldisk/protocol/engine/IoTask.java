package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * A read, write or synchronize in progress, as its logical unit sees it. For the thread that calls the logical unit; only
 * {@link #resume()} may be called by any thread.
 */
public interface IoTask {
    /** The {@link #round()} of a command without one. */
    long IMPLIED_ROUND = -1;

    /** The nexus that has sent the command. */
    Nexus nexus();

    /** The start of the range in the logical unit, in bytes; a multiple of 4096. */
    long offset();

    /** The length of the range in bytes; a multiple of 4096. */
    int lengthBytes();

    /**
     * The round of a PUSH, from 1; or the round that a PULL must see applied, from 0; {@link #IMPLIED_ROUND} for other
     * commands.
     */
    long round();

    /** Whether the initiator has found no NaN and no infinity in the gradient of a PUSH; false if it has not looked. */
    boolean declaredFinite();

    /** The memory that holds a write's data, and a read's scratch. */
    DataMemory memory();

    /** The number of pieces of a write's data. */
    int pieceCount();

    /** The offset of piece {@code index} in {@link #memory()}. */
    long pieceOffset(int index);

    /** The length of piece {@code index} in bytes, a multiple of 4096. The pieces are in order. */
    int pieceLengthBytes(int index);

    /** The offset of this task's scratch memory in {@link #memory()}. */
    long scratchOffset();

    /** The size of the scratch memory: at least 256 KiB. */
    int scratchBytes();

    /** Lets a parked task try again. Any thread; does not block. */
    void resume();
}
