package io.modeldisk.fault.replica;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.LogicalUnitIdentity;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;
import java.util.List;

/**
 * LUN 2 of a shard with backups: the primary writes its records here. PROTOCOL.md specifies the unit. A write to batch <i>b</i>
 * of a stream begins at byte <i>b</i> times {@link RecordFollower#batchBytes()}, and ends with GOOD when all records that are
 * complete have been applied. A read returns the stamps of the blocks, from byte 0.
 */
public final class BackupUnit implements LogicalUnit {
    private static final int STORAGE_ARRAY_CONTROLLER = 0x0C;
    private static final List<CdbUsage> COMMANDS = List.of(ReplicateCommand.USAGE);

    /** The unit has an address for each batch of a stream, so its capacity is as large as LBAs permit. */
    private static final long SIZE_BYTES = Long.MAX_VALUE / LogicalBlock.BYTES * LogicalBlock.BYTES;

    private final LogicalUnitIdentity identity;
    private final ModelFacts facts;
    private final RecordFollower follower;

    /** Creates the unit. */
    public BackupUnit(LogicalUnitIdentity identity, ModelFacts facts, RecordFollower follower) {
        this.identity = identity;
        this.facts = facts;
        this.follower = follower;
    }

    @Override
    public LogicalUnitIdentity identity() {
        return identity;
    }

    /** Returns the type of a storage array controller. Linux and other initiators create no disk for such a unit. */
    @Override
    public int deviceType() {
        return STORAGE_ARRAY_CONTROLLER;
    }

    @Override
    public long sizeBytes() {
        return SIZE_BYTES;
    }

    @Override
    public int optimalTransferBytes() {
        return facts.blockSizeBytes();
    }

    @Override
    public boolean followsAccessState() {
        return false;
    }

    @Override
    public void authorize(Nexus nexus, MediumAccess access) throws ScsiException {
        if (access != MediumAccess.NONE) {
            requireReplicate(nexus);
        }
    }

    @Override
    public boolean mayReset(Nexus nexus) {
        return nexus.may(Right.REPLICATE);
    }

    private static void requireReplicate(Nexus nexus) throws ScsiException {
        nexus.require(Right.REPLICATE, "sending records");
    }

    @Override
    public List<CdbUsage> vendorCommands() {
        return COMMANDS;
    }

    @Override
    public byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
        requireReplicate(nexus);
        if (!ReplicateCommand.isOf(cdb, facts)) {
            throw new ScsiException(RoundSense.OTHER_OPTIONS.sense(),
                "the primary '" + nexus.learner() + "' was started with other options than this backup, which has "
                    + facts);
        }
        long position = follower.beginStream(nexus, ReplicateCommand.epoch(cdb));
        return ReplicateCommand.data(position, follower.batchBytes());
    }

    @Override
    public boolean write(IoTask task) throws ScsiException {
        follower.write(task);
        return true;
    }

    @Override
    public boolean admitRead(IoTask task) {
        return true;
    }

    @Override
    public void pin(IoTask task, int dataOffset, Pin pin) {
        long scratch = task.scratchOffset();
        int lengthBytes = Math.min(task.lengthBytes() - dataOffset,
            Math.min(task.scratchBytes(), task.memory().bytesLeftInSlab(scratch)));
        follower.copyStamps(task.offset() + dataOffset, task.memory().slab(scratch), DataMemory.offsetInSlab(scratch),
            lengthBytes);
        pin.set(task.memory(), scratch, lengthBytes, null);
    }

    @Override
    public void unpin(Pin pin) {
        // There is nothing to release: the data of a read is in the scratch memory of its task.
    }

    @Override
    public boolean synchronizeCache(IoTask task) {
        return true;
    }

    @Override
    public void forget(IoTask task) {
        // There is nothing to forget: no task waits at this logical unit.
    }

    @Override
    public int[] vendorPageCodes() {
        return new int[]{ModelFacts.VPD_PAGE};
    }

    @Override
    public byte[] vendorPage(int code) {
        return facts.toJson();
    }
}
