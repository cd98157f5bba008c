package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.memory.DataMemory;

/**
 * A command in progress that accesses the medium. This interface is the logical unit's view of the command. The medium contains
 * float32 values. The values in the data of a command have the {@linkplain #valueType() type} of the logical unit. If this type
 * has 16 bits, the data is half as long as the command's range on the medium. Only the thread that calls the logical unit is
 * allowed to use the task, except that any thread can call {@link #resume()}.
 */
public interface IoTask {
    /** The value of {@link #round()} for a command that specifies no round. */
    long IMPLIED_ROUND = -1;

    /** Returns the nexus that sent the command. */
    Nexus nexus();

    /** Returns the start of the range on the medium in bytes, a multiple of 4096. */
    long offset();

    /**
     * Returns the length of the range on the medium in bytes, a multiple of 4096. With a 16-bit type, the range can extend beyond
     * the end of the medium, by less than one logical block of the unit.
     */
    int lengthBytes();

    /** Returns the type of the values in the data of the command. */
    ValueType valueType();

    /** Returns the length of the data in bytes, a multiple of 4096. */
    default int dataBytes() {
        return lengthBytes() / valueType().widening();
    }

    /**
     * Returns the round of a PUSH or an ABSENT (1 or more), or the round that must be applied before a PULL can proceed (0 or
     * more), or the version that the initiator of an AWAIT VERSION already has. Returns {@link #IMPLIED_ROUND} for a PUSH of
     * round 0 and for other commands.
     */
    long round();

    /** True if the initiator has declared that the gradient of a PUSH contains no NaN and no infinity. */
    boolean declaredFinite();

    /** True if the command is an ABSENT, which has a range and a round, but no data. */
    default boolean isAbsent() {
        return false;
    }

    /** True if this command is an ABSENT whose initiator left out the gradient because of a NaN or an infinity. */
    default boolean declaredNonFinite() {
        return false;
    }

    /** Increases the number of logical blocks that an ABSENT has marked as pushed. */
    default void addMarked(int logicalBlocks) {
        throw new IllegalStateException("the command is not an ABSENT, so it marks no logical blocks");
    }

    /** Returns the number of logical blocks that an ABSENT has marked as pushed. */
    default int marked() {
        return 0;
    }

    /** Increases the number of logical blocks in the range of an ABSENT that have no gradient in the ABSENT's round. */
    default void addAbsent(int logicalBlocks) {
        throw new IllegalStateException("the command is not an ABSENT, so it counts no logical blocks");
    }

    /** Returns the number of logical blocks in the range of an ABSENT that have no gradient in the ABSENT's round. */
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

    /**
     * Returns the position up to which the log of records must be durable before this command can end; 0 if this command has not
     * waited for the log.
     */
    long logPosition();

    /** Sets the position for {@link #logPosition()}. The command is then {@linkplain #isTaken() taken}. */
    void logPosition(long position);

    /**
     * Returns the ticket of the last device operation that must complete before this command can end; 0 if this command has not
     * waited for the device.
     */
    long deviceTicket();

    /** Sets the ticket for {@link #deviceTicket()}. The command is then {@linkplain #isTaken() taken}. */
    void deviceTicket(long ticket);

    /** Returns whether the command is taken: it has had its effect, and waits only for the log or the device. */
    default boolean isTaken() {
        return logPosition() != 0 || deviceTicket() != 0;
    }

    /** Makes the engine run this parked task again. Can be called by any thread. Does not block. */
    void resume();
}
