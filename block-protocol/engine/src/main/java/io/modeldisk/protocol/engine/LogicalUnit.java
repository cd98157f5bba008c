package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.util.List;

/**
 * The medium of a SCSI logical unit. Implements the commands that read or write the medium. The target engine runs all other SCSI
 * commands, and checks that the range of a task lies within {@link #sizeBytes()}.
 *
 * <p>Many threads call the methods at the same time. A method that returns {@code false} has <em>parked</em> the task: the
 * logical unit keeps the task and calls {@link IoTask#resume()} when the task can continue. The engine then calls the same method
 * again. The engine limits the time for which a task is parked, and calls {@link #forget} for a parked task that must end.
 */
public interface LogicalUnit {
    /** Returns the identity for the INQUIRY data. */
    LogicalUnitIdentity identity();

    /** Returns the peripheral device type for INQUIRY (SPC-4 6.4.2). Operating systems create a disk only for type 00h. */
    default int deviceType() {
        return 0;
    }

    /** Returns the capacity in bytes, a positive multiple of {@link LogicalBlock#BYTES}. */
    long sizeBytes();

    /** Returns the type of the values that commands move. With a 16-bit type, the unit has half the size of the medium. */
    default ValueType valueType() {
        return ValueType.FLOAT32;
    }

    /**
     * Returns the length of a shard's block in the address space of this unit, in bytes. The Block Limits page reports this
     * length as the optimal transfer length granularity.
     */
    int optimalTransferBytes();

    /**
     * Returns true if the unit runs commands only while the target port group of this process is active. Returns false if the
     * unit runs commands in every state: another process of the target then uses the unit to keep this process up to date.
     */
    default boolean followsAccessState() {
        return true;
    }

    /**
     * Checks that the initiator is allowed to send a command. Called once for each command, before any data is moved.
     *
     * @throws ScsiException if the initiator is not allowed to send the command; the command then ends with CHECK CONDITION
     */
    default void authorize(Nexus nexus, MediumAccess access) throws ScsiException {}

    /**
     * Returns whether the initiator is allowed to reset the unit, and to abort the tasks of other sessions on the unit. Without
     * this permission, the initiator can abort only its own tasks.
     */
    default boolean mayReset(Nexus nexus) {
        return true;
    }

    /**
     * Checks whether a read can proceed. If the read cannot proceed yet, parks the task and returns false.
     *
     * @throws ScsiException if the read fails; the task then ends with CHECK CONDITION
     */
    boolean admitRead(IoTask task) throws ScsiException;

    /**
     * Sets {@code pin} to memory that contains the data of a read, starting at {@code dataOffset}. The memory is one piece of at
     * least 4096 bytes, within the range of the task. The contents of the memory must not change until {@link #unpin}. A logical
     * unit whose memory can change meanwhile must copy the data to {@link IoTask#scratchOffset() the task's scratch memory}.
     *
     * @param dataOffset the offset from the start of the task's data, in bytes
     * @throws ScsiException if the data cannot be read; the task then ends with CHECK CONDITION, and nothing is pinned
     */
    void pin(IoTask task, int dataOffset, Pin pin) throws ScsiException;

    /** Releases the memory of a pin. Called exactly once after each call of {@link #pin}, by any thread. */
    void unpin(Pin pin);

    /**
     * Returns whether the engine can put the data of a write into {@linkplain Target#deviceWrites device memory}, which the host
     * cannot read. Called before the data arrives.
     */
    default boolean takesDeviceData(IoTask task) {
        return false;
    }

    /**
     * Writes the data of a task to the medium. Called after all data has arrived.
     *
     * @return false if the logical unit has parked the task; the data then stays in the memory of the task
     * @throws ScsiException if the write fails without any effect; the task then ends with CHECK CONDITION
     */
    boolean write(IoTask task) throws ScsiException;

    /**
     * Returns whether a task that must end has already changed the medium, and would change it again if the initiator sent the
     * command again. Such a task ends with HARDWARE ERROR instead of BUSY, TASK ABORTED or the sense of the target port group,
     * because initiators repeat a command that ends with one of these.
     */
    default boolean wouldCountTwice(IoTask task) {
        return false;
    }

    /** Checks whether all earlier writes of this task's nexus are complete. If not, parks the task and returns false. */
    boolean synchronizeCache(IoTask task) throws ScsiException;

    /**
     * Returns the parameter data of an AWAIT VERSION if the version differs from {@link IoTask#round()}. Otherwise parks the task
     * and returns null. Called only if the command is one of the {@link #vendorCommands()}.
     */
    default byte[] awaitVersion(IoTask task) {
        throw new IllegalStateException("the logical unit has no command AWAIT VERSION");
    }

    /**
     * Runs an ABSENT: marks the range as pushed without data. Called only if the command is one of the {@link #vendorCommands()}.
     *
     * @return the parameter data; null if the logical unit has parked the task
     * @throws ScsiException if the command fails without any effect; the task then ends with CHECK CONDITION
     */
    default byte[] markAbsent(IoTask task) throws ScsiException {
        throw new IllegalStateException("the logical unit has no command ABSENT");
    }

    /** Forgets a task that has expired, was aborted or has lost its connection, even if the unit has not parked the task. */
    void forget(IoTask task);

    /**
     * Runs one of the {@link #vendorCommands()}. The engine does not call this method for PUSH, PULL, ABSENT
     * and AWAIT VERSION. The engine passes a PUSH as a write and a PULL as a read, each with its {@link IoTask#round()}.
     *
     * @return the parameter data, which the engine cuts to the length that the initiator expects
     * @throws ScsiException if the command fails; the task then ends with CHECK CONDITION
     */
    default byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
        throw new ScsiException(Sense.INVALID_OPCODE, "the logical unit has no vendor-specific commands");
    }

    /**
     * Returns the vendor-specific commands in ascending order of their operation codes. The engine refuses a command whose CDB
     * sets a bit that the {@link CdbUsage} of the command does not contain.
     */
    default List<CdbUsage> vendorCommands() {
        return List.of();
    }

    /** Returns the codes of the vendor-specific VPD pages (C0h to FFh), in ascending order. */
    int[] vendorPageCodes();

    /** Returns the contents of a vendor-specific VPD page without its 4-byte header, at most 65,000 bytes. */
    byte[] vendorPage(int code);
}
