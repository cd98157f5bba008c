package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.memory.DataMemory;

/**
 * A command on the medium in progress, as its logical unit sees the command. The medium has float32 values.
 * The data of a command has the {@linkplain #valueType() type} of the logical unit, and may be half as long as the command's
 * range on the medium. Only the thread that calls the logical unit may use the task, except that any thread may call
 * {@link #resume()}.
 */
public interface IoTask {
    /** The value of {@link #round()} for a command that has no round. */
    long IMPLIED_ROUND = -1;

    /** Returns the nexus that sent the command. */
    Nexus nexus();

    /** Returns the start of the range on the medium in bytes, a multiple of 4096. */
    long offset();

    /**
     * Returns the length of the range on the medium in bytes, a multiple of 4096. With a 16-bit type, the range may end beyond
     * the medium, by less than one logical block of the unit.
     */
    int lengthBytes();

    /** Returns the type of the values in the data of the command. */
    ValueType valueType();

    /** Returns the length of the data in bytes, a multiple of 4096. */
    default int dataBytes() {
        return lengthBytes() / valueType().widening();
    }

    /**
     * Returns the round of a PUSH or an ABSENT (1 or more), or the round that must be applied before a PULL may proceed (0 or
     * more), or the version that the initiator of an AWAIT VERSION knows. Returns {@link #IMPLIED_ROUND} for a PUSH of round 0
     * and for other commands.
     */
    long round();

    /** True if the initiator has declared that the gradient of a PUSH contains no NaN and no infinity. */
    boolean declaredFinite();

    /** True if the command is an ABSENT, which has a range and a round, but no data. */
    default boolean isAbsent() {
        return false;
    }

    /** True if this is an ABSENT whose initiator left out the gradient because of a NaN or an infinity. */
    default boolean declaredNonFinite() {
        return false;
    }

    /** Adds to the number of logical blocks that an ABSENT has marked as pushed. */
    default void addMarked(int logicalBlocks) {
        throw new IllegalStateException("only an ABSENT counts the logical blocks that it marks");
    }

    /** Returns the number of logical blocks that an ABSENT has marked as pushed. */
    default int marked() {
        return 0;
    }

    /** Adds to the number of logical blocks in the range of an ABSENT that have no gradient in its round. */
    default void addAbsent(int logicalBlocks) {
        throw new IllegalStateException("only an ABSENT counts the logical blocks without a gradient");
    }

    /** Returns the number of logical blocks in the range of an ABSENT that have no gradient in its round. */
    default int absentBlocks() {
        return 0;
    }

    /** Returns the memory that contains the data of a write, or the scratch memory of a read. */
    DataMemory memory();

    /** Returns the number of pieces of a write's data. */
    int pieceCount();

    /** Returns the offset of piece {@code index} in {@link #memory()}, in bytes. */
    long pieceOffset(int index);

    /** Returns the length of piece {@code index} in bytes, a multiple of 4096. The pieces are in the order of the data. */
    int pieceLengthBytes(int index);

    /** Returns the offset of this task's scratch memory in {@link #memory()}, in bytes. */
    long scratchOffset();

    /** Returns the size of the scratch memory in bytes, at least 256 KiB. */
    int scratchBytes();

    /** Returns the position in the log of records that this command waits for; 0 if it has not waited for the log. */
    long logPosition();

    /** Sets the position in the log that a taken command waits for, so the logical unit knows it after the wait. */
    void logPosition(long position);

    /** Returns the ticket of the device that this command waits for; 0 if it has not waited for the device. */
    long deviceTicket();

    /** Sets the ticket of the device that a taken command waits for, so the logical unit knows it after the wait. */
    void deviceTicket(long ticket);

    /** Returns whether the logical unit has taken the command, which then waits only until its effect lasts. */
    default boolean isTaken() {
        return logPosition() != 0 || deviceTicket() != 0;
    }

    /**
     * Makes the engine run this task again after the logical unit has parked the task. May be called by any thread. Does not
     * block.
     */
    void resume();
}
