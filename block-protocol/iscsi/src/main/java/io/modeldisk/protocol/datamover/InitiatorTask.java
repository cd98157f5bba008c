package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/** The data of one command at the initiator: the memory that the target writes to or reads from. */
public interface InitiatorTask {
    /** The initiator task tag. The tag differs from the tags of earlier tasks that used the same slot. */
    int initiatorTaskTag();

    /** The LUN field of the task's PDUs. */
    long lunField();

    /** True if the data moves from the initiator to the target. */
    boolean writes();

    /** The memory that holds the data. */
    DataMemory memory();

    /** The offset of the data in {@link #memory()}. */
    long memoryOffset();

    /** The length of the data in bytes. The data lies within one slab. */
    int lengthBytes();
}
