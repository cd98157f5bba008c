package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.util.List;

/**
 * The medium behind a logical unit: what reading and writing its bytes means. The target engine answers every other SCSI
 * command and has checked that a task's range lies within {@link #sizeBytes()}.
 *
 * <p>Called by many threads at once. A method that answers {@code false} has <em>parked</em> the task: the logical unit
 * keeps it and calls {@link IoTask#resume()} when the task may try again, upon which the engine calls the same method once
 * more. The engine bounds the time a task is parked and calls {@link #forget} for one that it ends itself.
 */
public interface LogicalUnit {
    /** What INQUIRY tells of this unit. */
    LogicalUnitIdentity identity();

    /** The capacity in bytes: a positive multiple of {@link LogicalBlock#BYTES}. */
    long sizeBytes();

    /** The bytes that a write's optimal granularity is given as: the block size. */
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
     * Fills {@code pin} with memory that holds the data of an admitted read from {@code dataOffset} on, as much of it as is in
     * one piece, at least 4096 bytes and at most up to the task's end. The memory keeps its contents until {@link #unpin}.
     * A unit that cannot keep it so copies the data to {@link IoTask#scratchOffset() the task's scratch memory}.
     *
     * @param dataOffset bytes from the task's first
     */
    void pin(IoTask task, int dataOffset, Pin pin);

    /** Lets go of what {@link #pin} held. Called exactly once for each, from any thread. */
    void unpin(Pin pin);

    /**
     * Takes the data of a write, all of which has arrived.
     *
     * @return false if the task is parked; its data stays where it is
     * @throws ScsiException to end the task with CHECK CONDITION; then nothing of it has been taken
     */
    boolean write(IoTask task) throws ScsiException;

    /**
     * Whether all that this task's nexus wrote before has been taken.
     *
     * @return false if the task is parked until it has
     */
    boolean synchronizeCache(IoTask task) throws ScsiException;

    /** Forgets a parked task that ends by the bound on its wait, by an abort, or with its connection. */
    void forget(IoTask task);

    /**
     * Carries out one of the {@link #vendorCommands()} and makes the data it returns. PUSH and PULL do not come here, but as a
     * write and a read with a {@link IoTask#round()}.
     *
     * @return the data, which is cut to what the initiator expects
     * @throws ScsiException to end the task with CHECK CONDITION
     */
    default byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
        throw new ScsiException(Sense.INVALID_OPCODE, "there is no vendor-specific command");
    }

    /** The vendor-specific commands, ascending. Other bits of their CDBs than these are refused. */
    default List<CdbUsage> vendorCommands() {
        return List.of();
    }

    /** The codes of the vendor-specific VPD pages (C0h to FFh), ascending. */
    int[] vendorPageCodes();

    /** The contents of a vendor-specific VPD page behind its 4-byte header, at most 65,000 bytes; made when asked for. */
    byte[] vendorPage(int code);
}
