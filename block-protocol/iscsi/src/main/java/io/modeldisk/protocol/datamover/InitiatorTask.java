package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/** A command's data as the initiator's datamover sees it: the memory that the target puts to or gets from. */
public interface InitiatorTask {
    /** The task's tag; a stale tag of an earlier use of the same place differs. */
    int initiatorTaskTag();

    /** The LUN field of its PDUs. */
    long lunField();

    /** Whether the data goes to the target. */
    boolean writes();

    /** The memory that holds the data. */
    DataMemory memory();

    /** Where in the memory the data starts. */
    long memoryOffset();

    /** How long it is; it lies within one slab. */
    int lengthBytes();
}
