package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * A read, write or synchronize in progress, as its logical unit sees it. Owned by the thread that calls the logical unit;
 * only {@link #resume()} may be called by others.
 */
public interface IoTask {
    /** The {@link #round()} of a command that names none. */
    long IMPLIED_ROUND = -1;

    /** Who asks. */
    Nexus nexus();

    /** Where in the logical unit the range starts, in bytes; a multiple of 4096. */
    long offset();

    /** How long the range is, in bytes; a multiple of 4096. */
    int lengthBytes();

    /**
     * The round that a PUSH is of, from 1, or that a PULL must see applied, from 0; {@link #IMPLIED_ROUND} for a command that
     * names none.
     */
    long round();

    /** The memory that holds a write's data, and a read's scratch. */
    DataMemory memory();

    /** How many pieces a write's data lies in. */
    int pieceCount();

    /** Where in {@link #memory()} piece {@code index} starts. */
    long pieceOffset(int index);

    /** How long piece {@code index} is, in bytes. Pieces follow one another; each length is a multiple of 4096. */
    int pieceLengthBytes(int index);

    /** Where in {@link #memory()} this task's {@link #scratchBytes()} of scratch are. */
    long scratchOffset();

    /** The size of the scratch memory: at least 256 KiB. */
    int scratchBytes();

    /** Says that a parked task may try again; from any thread, at once, and without holding anything up. */
    void resume();
}
