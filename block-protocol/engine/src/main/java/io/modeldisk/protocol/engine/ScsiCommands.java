package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiCommand;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.util.List;

/**
 * Decodes CDBs. For a command on the medium, sets the range and the data length. For any other command, creates the parameter
 * data. Thread-safe.
 */
final class ScsiCommands {
    /** The maximum transfer length of one command, in logical blocks. */
    static final int MAX_TRANSFER_BLOCKS = TaskSlot.MAX_CHUNKS * BufferPool.CHUNK_BYTES
        / LogicalBlock.BYTES;

    private static final int BLOCK = LogicalBlock.BYTES;
    private static final byte[] NOTHING = {};

    private final Target target;
    private final TargetPortGroups portGroups;
    private final UnitAttentions attentions;
    private final ParameterCommands parameters;

    ScsiCommands(FullFeaturePhase.Setup setup, UnitAttentions attentions) {
        this.target = setup.target();
        this.portGroups = setup.portGroups();
        this.attentions = attentions;
        this.parameters = new ParameterCommands(setup, attentions);
    }

    /** Decodes a CDB: sets the unit, access and data length. Returns the parameter data; null for a command on the medium. */
    byte[] decode(DecodedCommand command, Nexus nexus) throws ScsiException {
        command.unit = unit(command.lun);
        Cdb cdb = command.cdb;
        ScsiCommand definition = ScsiCommand.find(cdb);
        if (definition == ScsiCommand.INQUIRY || definition == ScsiCommand.REPORT_LUNS
            || definition == ScsiCommand.REQUEST_SENSE) {
            // INQUIRY, REPORT LUNS and REQUEST SENSE are served without a logical unit and despite unit attentions.
            definition.check(cdb);
            return parameters.data(definition, command);
        }
        if (command.unit == null) {
            throw new ScsiException(Sense.LUN_NOT_SUPPORTED, "there is no logical unit with LUN " + command.lun);
        }
        Sense attention = attentions.take(command.unit);
        if (attention != null) {
            throw new ScsiException(attention,
                "the command was not run because a unit attention condition was pending");
        }
        checkAccessState(command, definition);
        byte[] parameterData;
        if (definition == null || definition.needsDisk() && !(command.unit instanceof DiskUnit)) {
            parameterData = vendorCommand(command, nexus);
        } else {
            definition.check(cdb);
            parameterData = decode(command, definition);
        }
        command.unit.authorize(nexus, command.access);
        return parameterData;
    }

    /** Refuses a command if the state of this process's target port group does not permit the command. */
    private void checkAccessState(DecodedCommand command, ScsiCommand definition) throws ScsiException {
        AccessState state = portGroups.state();
        if (!state.runs(definition) && command.unit.followsAccessState()) {
            throw new ScsiException(state.sense(),
                "target port group " + portGroups.own() + " is in the state " + state);
        }
    }

    private LogicalUnit unit(int lun) {
        List<LogicalUnit> units = target.units();
        for (int i = 0; i < units.size(); i++) {
            if (units.get(i).identity().lun() == lun) {
                return units.get(i);
            }
        }
        return null;
    }

    private byte[] decode(DecodedCommand command, ScsiCommand definition) throws ScsiException {
        switch (definition) {
            case READ_6, READ_10, READ_12, READ_16 -> {
                command.access = MediumAccess.READ;
                long bytes = rangeBytes(command, MAX_TRANSFER_BLOCKS);
                command.move(bytes, Math.min(bytes, command.expectedBytes));
            }
            case WRITE_6, WRITE_10, WRITE_12, WRITE_16 -> {
                command.access = MediumAccess.WRITE;
                moveOut(command, rangeBytes(command, MAX_TRANSFER_BLOCKS));
            }
            case SYNCHRONIZE_CACHE_10, SYNCHRONIZE_CACHE_16 -> {
                command.access = MediumAccess.SYNCHRONIZE;
                rangeBytes(command, Long.MAX_VALUE);
                command.move(0, 0);
            }
            case VERIFY_10, VERIFY_12, VERIFY_16 -> DiskCommands.decodeVerify(command);
            case WRITE_AND_VERIFY_10, WRITE_AND_VERIFY_12, WRITE_AND_VERIFY_16 ->
                DiskCommands.decodeWriteAndVerify(command);
            case WRITE_SAME_10, WRITE_SAME_16 -> DiskCommands.decodeWriteSame(command);
            case PRE_FETCH_10, PRE_FETCH_16 -> {
                rangeBytes(command, Long.MAX_VALUE);
                // PRE-FETCH has nothing to do, because the whole medium is in memory.
                command.goodStatus = ScsiStatus.CONDITION_MET;
                return NOTHING;
            }
            case TEST_UNIT_READY -> {
                return NOTHING;
            }
            default -> {
                return parameters.data(definition, command);
            }
        }
        return null;
    }

    /** Checks a range against the unit's size and {@code maxBlocks}, and sets the start. Returns the length in bytes. */
    static long rangeBytes(DecodedCommand command, long maxBlocks) throws ScsiException {
        Cdb cdb = command.cdb;
        return rangeBytes(command, cdb.lba(), cdb.lbaField(), cdb.blocks(), cdb.blocksField(), maxBlocks);
    }

    /**
     * Checks a range like {@link #rangeBytes(DecodedCommand, long)}. The parameters {@code lbaField} and {@code blocksField} are
     * the offsets of LBA and length in the CDB.
     */
    static long rangeBytes(DecodedCommand command, long lba, int lbaField, long blocks, int blocksField, long maxBlocks)
        throws ScsiException {
        if (blocks > maxBlocks) {
            throw new ScsiException(Sense.invalidFieldInCdb(blocksField),
                "a range of " + blocks + " blocks exceeds the limit of " + maxBlocks);
        }
        long capacity = command.unit.sizeBytes() / BLOCK;
        if (lba < 0 || lba > capacity || lba == capacity && blocks > 0 || blocks > capacity - lba) {
            throw new ScsiException(Sense.LBA_OUT_OF_RANGE.at(lbaField),
                "a range of " + blocks + " blocks at LBA " + Long.toUnsignedString(lba) + " exceeds the capacity of "
                    + capacity + " blocks");
        }
        command.offset = lba * BLOCK;
        return blocks * BLOCK;
    }

    /** Sets a write's data length to {@code bytes}. If the initiator sends less, only whole logical blocks are moved. */
    static void moveOut(DecodedCommand command, long bytes) {
        command.move(bytes, Math.min(bytes, command.expectedBytes / BLOCK * BLOCK));
    }

    private static byte[] vendorCommand(DecodedCommand command, Nexus nexus) throws ScsiException {
        Cdb cdb = command.cdb;
        List<CdbUsage> commands = command.unit.vendorCommands();
        for (int i = 0; i < commands.size(); i++) {
            CdbUsage usage = commands.get(i);
            if (usage.opcode() == cdb.opcode()) {
                usage.check(cdb);
                return RoundCommands.decode(command, usage) ? null : command.unit.vendorCommand(nexus, cdb);
            }
        }
        throw new ScsiException(Sense.INVALID_OPCODE,
            PlainText.format("the operation code %02Xh is not supported", cdb.opcode()));
    }
}
