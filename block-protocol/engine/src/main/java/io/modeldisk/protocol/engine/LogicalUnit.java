package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.util.List;

/**
 * The medium of a logical unit: the meaning of reading and writing its bytes. The target engine answers all other SCSI commands,
 * and checks that a task's range lies within {@link #sizeBytes()}.
 *
 * <p>Called by many threads at once. A method that returns {@code false} has <em>parked</em> the task: the logical unit keeps it,
 * and calls {@link IoTask#resume()} when the task may try again; the engine then calls the same method again. The engine bounds
 * the time for which a task is parked, and calls {@link #forget} for a task that it ends.
 */
public interface LogicalUnit {
    /** The identity that INQUIRY returns. */
    LogicalUnitIdentity identity();

    /** The capacity in bytes: a positive multiple of {@link LogicalBlock#BYTES}. */
    long sizeBytes();

    /** The optimal transfer length granularity of the block limits page, in bytes: the block size. */
    int optimalTransferBytes();

    /**
     * Refuses a command that the nexus may not send. Called for each command once, before any data is moved.
     *
     * @throws ScsiException to end the command with CHECK CONDITION
     */
    default void authorize(Nexus nexus, MediumAccess access) throws ScsiException {}

    /**
     * Whether a read may go ahead now.
     *
     * @return false if the task is parked
     * @throws ScsiException to end the task with CHECK CONDITION
     */
    boolean admitRead(IoTask task) throws ScsiException;

    /**
     * Sets {@code pin} to memory with the data of an admitted read from {@code dataOffset} on: one piece of at least 4096 bytes,
     * which ends at the task's end or earlier. The memory keeps its contents until {@link #unpin}. A unit that cannot guarantee
     * this copies the data to {@link IoTask#scratchOffset() the task's scratch memory}.
     *
     * @param dataOffset the offset from the start of the task's range, in bytes
     */
    void pin(IoTask task, int dataOffset, Pin pin);

    /** Releases memory that {@link #pin} has set. Called exactly once for each pin, by any thread. */
    void unpin(Pin pin);

    /**
     * Takes the data of a write, which is complete.
     *
     * @return false if the task is parked; its data stays in place
     * @throws ScsiException to end the task with CHECK CONDITION; nothing of the data has been taken then
     */
    boolean write(IoTask task) throws ScsiException;

    /**
     * Whether all earlier writes of this task's nexus have been taken.
     *
     * @return false if the task is parked until they have
     */
    boolean synchronizeCache(IoTask task) throws ScsiException;

    /** Forgets a parked task: it has expired, is aborted, or its connection has ended. */
    void forget(IoTask task);

    /**
     * Runs one of the {@link #vendorCommands()}. PUSH and PULL come as a write and a read with an {@link IoTask#round()}
     * instead.
     *
     * @return the parameter data; the engine cuts it to the length that the initiator expects
     * @throws ScsiException to end the task with CHECK CONDITION
     */
    default byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
        throw new ScsiException(Sense.INVALID_OPCODE, "no vendor-specific command");
    }

    /** The vendor-specific commands in ascending order. A CDB with other bits than these is refused. */
    default List<CdbUsage> vendorCommands() {
        return List.of();
    }

    /** The codes of the vendor-specific VPD pages (C0h to FFh), in ascending order. */
    int[] vendorPageCodes();

    /** Makes the contents of a vendor-specific VPD page after its 4-byte header: at most 65,000 bytes. */
    byte[] vendorPage(int code);
}
