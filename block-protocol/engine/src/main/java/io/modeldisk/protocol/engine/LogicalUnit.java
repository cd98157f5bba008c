package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.util.List;

/**
 * The medium of a logical unit, which implements the reads and writes of its bytes. The target engine runs all other SCSI
 * commands, and checks that the range of a task lies within {@link #sizeBytes()}.
 *
 * <p>Many threads call the methods at the same time. A method that returns {@code false} has <em>parked</em> the task: the
 * logical unit keeps the task and calls {@link IoTask#resume()} when the task may try again. The engine then calls the same
 * method again. The engine limits the time for which a task is parked, and calls {@link #forget} for a task that it ends.
 */
public interface LogicalUnit {
    /** Returns the identity for the INQUIRY data. */
    LogicalUnitIdentity identity();

    /** Returns the capacity in bytes, a positive multiple of {@link LogicalBlock#BYTES}. */
    long sizeBytes();

    /** Returns the optimal transfer length granularity for the Block Limits page in bytes, which is the shard's block size. */
    int optimalTransferBytes();

    /**
     * Refuses a command that the nexus may not send. Called once for each command, before any data is moved.
     *
     * @throws ScsiException if the nexus may not send the command, which then ends with CHECK CONDITION
     */
    default void authorize(Nexus nexus, MediumAccess access) throws ScsiException {}

    /**
     * Whether a read may proceed now.
     *
     * @return false if the logical unit has parked the task
     * @throws ScsiException if the read fails; the task then ends with CHECK CONDITION
     */
    boolean admitRead(IoTask task) throws ScsiException;

    /**
     * Sets {@code pin} to memory with the data of an admitted read, starting at {@code dataOffset}. The memory is one piece of at
     * least 4096 bytes, within the range of the task. The memory keeps its contents until {@link #unpin}. A unit that cannot
     * guarantee this copies the data to {@link IoTask#scratchOffset() the task's scratch memory}.
     *
     * @param dataOffset the offset from the start of the task's range, in bytes
     */
    void pin(IoTask task, int dataOffset, Pin pin);

    /** Releases memory that {@link #pin} has set. Called exactly once for each pin, by any thread. */
    void unpin(Pin pin);

    /**
     * Writes the data of a task, all of which has arrived.
     *
     * @return false if the logical unit has parked the task; the data of the task stays in place
     * @throws ScsiException if the write fails without any effect; the task then ends with CHECK CONDITION
     */
    boolean write(IoTask task) throws ScsiException;

    /**
     * Whether all earlier writes of this task's nexus are complete.
     *
     * @return false if the logical unit has parked the task until these writes are complete
     */
    boolean synchronizeCache(IoTask task) throws ScsiException;

    /** Forgets a parked task that has expired or was aborted, or whose connection is closed. */
    void forget(IoTask task);

    /**
     * Runs one of the {@link #vendorCommands()}. PUSH and PULL are not passed to this method, because the engine passes them as
     * a write and a read with an {@link IoTask#round()}.
     *
     * @return the parameter data, which the engine cuts to the length that the initiator expects
     * @throws ScsiException if the command fails; the task then ends with CHECK CONDITION
     */
    default byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
        throw new ScsiException(Sense.INVALID_OPCODE, "the logical unit has no vendor-specific commands");
    }

    /** Returns the vendor-specific commands in ascending order. The engine refuses a CDB with a bit that no command uses. */
    default List<CdbUsage> vendorCommands() {
        return List.of();
    }

    /** Returns the codes of the vendor-specific VPD pages (C0h to FFh), in ascending order. */
    int[] vendorPageCodes();

    /** Returns the contents of a vendor-specific VPD page without its 4-byte header, at most 65,000 bytes. */
    byte[] vendorPage(int code);
}
