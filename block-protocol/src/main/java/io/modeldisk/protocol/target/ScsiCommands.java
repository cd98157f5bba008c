package io.modeldisk.protocol.target;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.InquiryData;
import io.modeldisk.protocol.scsi.ModePages;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.ScsiOpcode;
import io.modeldisk.protocol.scsi.Sense;
import java.util.Arrays;
import java.util.List;

/**
 * The SCSI side of a task: decodes a CDB into what is to be moved, and makes the parameter data of commands that return some.
 * Everything that is not about the medium ends here. Thread-safe.
 */
final class ScsiCommands {
    /** The longest transfer of one command, in logical blocks. */
    static final int MAX_TRANSFER_BLOCKS = TaskSlot.MAX_CHUNKS * BufferPool.CHUNK_BYTES
        / LogicalUnit.LOGICAL_BLOCK_BYTES;

    private static final int BLOCK = LogicalUnit.LOGICAL_BLOCK_BYTES;
    private static final byte[] NOTHING = {};

    private final Target target;

    ScsiCommands(Target target) {
        this.target = target;
    }

    /**
     * Decodes the task's CDB: sets its unit, its kind and what it moves.
     *
     * @return the parameter data to return, or null for a command on the medium
     */
    byte[] decode(TaskSlot task, int lun) throws ScsiException {
        Cdb cdb = task.cdb;
        task.lun = lun;
        task.unit = unit(lun);
        switch (cdb.opcode()) {
            case ScsiOpcode.READ_6, ScsiOpcode.READ_10, ScsiOpcode.READ_12, ScsiOpcode.READ_16 ->
                decodeMedium(task, TaskSlot.Kind.READ);
            case ScsiOpcode.WRITE_6, ScsiOpcode.WRITE_10, ScsiOpcode.WRITE_12, ScsiOpcode.WRITE_16 ->
                decodeMedium(task, TaskSlot.Kind.WRITE);
            case ScsiOpcode.SYNCHRONIZE_CACHE_10, ScsiOpcode.SYNCHRONIZE_CACHE_16 -> decodeSynchronize(task);
            default -> {
                return RoundCommands.decode(task) ? null : parameterData(task);
            }
        }
        return null;
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

    private static LogicalUnit present(TaskSlot task) throws ScsiException {
        if (task.unit == null) {
            throw new ScsiException(Sense.LUN_NOT_SUPPORTED, "no logical unit " + task.lun);
        }
        return task.unit;
    }

    private static void decodeMedium(TaskSlot task, TaskSlot.Kind kind) throws ScsiException {
        Cdb cdb = task.cdb;
        LogicalUnit unit = present(task);
        if (cdb.protect() != 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(1), "there is no protection information");
        }
        long blocks = cdb.blocks();
        if (blocks > MAX_TRANSFER_BLOCKS) {
            throw new ScsiException(Sense.invalidFieldInCdb(cdb.blocksField()),
                "a transfer of " + blocks + " blocks, the limit is " + MAX_TRANSFER_BLOCKS);
        }
        checkRange(unit, cdb, blocks);
        task.kind = kind;
        task.offset = cdb.lba() * BLOCK;
        long bytes = blocks * BLOCK;
        if (kind == TaskSlot.Kind.WRITE) {
            // Of a write that the initiator cuts short only whole logical blocks can be taken.
            task.move(bytes, Math.min(bytes, task.expectedBytes / BLOCK * BLOCK));
        } else {
            task.move(bytes, Math.min(bytes, task.expectedBytes));
        }
    }

    private static void checkRange(LogicalUnit unit, Cdb cdb, long blocks) throws ScsiException {
        long capacity = unit.sizeBytes() / BLOCK;
        long lba = cdb.lba();
        if (lba < 0 || lba > capacity || lba == capacity && blocks > 0 || blocks > capacity - lba) {
            throw new ScsiException(Sense.LBA_OUT_OF_RANGE.at(cdb.lbaField()),
                "blocks " + Long.toUnsignedString(lba) + " to +" + blocks + " of a unit of " + capacity);
        }
    }

    private static void decodeSynchronize(TaskSlot task) throws ScsiException {
        checkRange(present(task), task.cdb, task.cdb.blocks());
        task.kind = TaskSlot.Kind.SYNCHRONIZE;
    }

    private byte[] parameterData(TaskSlot task) throws ScsiException {
        Cdb cdb = task.cdb;
        return switch (cdb.opcode()) {
            case ScsiOpcode.TEST_UNIT_READY -> {
                present(task);
                yield NOTHING;
            }
            case ScsiOpcode.INQUIRY -> cut(inquiry(task), cdb.u16(3));
            case ScsiOpcode.REPORT_LUNS -> reportLuns(cdb);
            case ScsiOpcode.REQUEST_SENSE -> cut(requestSense(task), cdb.u8(4));
            case ScsiOpcode.MODE_SENSE_6 -> cut(modeSense(task), cdb.u8(4));
            case ScsiOpcode.MODE_SENSE_10 -> cut(modeSense(task), cdb.u16(7));
            case ScsiOpcode.READ_CAPACITY_10 -> readCapacity10(present(task));
            case ScsiOpcode.SERVICE_ACTION_IN_16 -> serviceActionIn(task);
            default -> vendorCommand(task);
        };
    }

    private static byte[] vendorCommand(TaskSlot task) throws ScsiException {
        Cdb cdb = task.cdb;
        byte[] data = cdb.opcode() < ScsiOpcode.FIRST_VENDOR_SPECIFIC
            ? null
            : present(task).vendorCommand(task.nexus(), cdb);
        if (data == null) {
            throw new ScsiException(Sense.INVALID_OPCODE, "operation code %02Xh".formatted(cdb.opcode()));
        }
        return data;
    }

    private static byte[] cut(byte[] data, long allocationLength) {
        return data.length <= allocationLength ? data : Arrays.copyOf(data, (int) allocationLength);
    }

    private byte[] inquiry(TaskSlot task) throws ScsiException {
        Cdb cdb = task.cdb;
        boolean vital = (cdb.u8(1) & 1) != 0;
        int page = cdb.u8(2);
        if ((cdb.u8(1) & 0xFE) != 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(1), "reserved bits in INQUIRY");
        }
        if (!vital && page != 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(2), "page code %02Xh without EVPD".formatted(page));
        }
        if (task.unit == null) {
            if (vital) {
                throw new ScsiException(Sense.LUN_NOT_SUPPORTED, "no logical unit " + task.lun);
            }
            return InquiryData.noUnit();
        }
        LogicalUnitIdentity identity = task.unit.identity();
        return vital ? vitalPage(task.unit, identity, page) : InquiryData.standard(identity.product());
    }

    private byte[] vitalPage(LogicalUnit unit, LogicalUnitIdentity identity, int page) throws ScsiException {
        return switch (page) {
            case InquiryData.SUPPORTED_PAGES -> InquiryData.supportedPages(unit.vendorPageCodes());
            case InquiryData.UNIT_SERIAL_NUMBER -> InquiryData.serialNumber(identity.serialNumber());
            case InquiryData.DEVICE_IDENTIFICATION -> InquiryData.deviceIdentification(
                identity.product(), identity.serialNumber(), identity.eui64(), target.name());
            case InquiryData.BLOCK_LIMITS -> {
                int optimal = unit.optimalTransferBytes() / BLOCK;
                yield InquiryData.blockLimits(optimal, MAX_TRANSFER_BLOCKS, optimal);
            }
            case InquiryData.BLOCK_DEVICE_CHARACTERISTICS -> InquiryData.blockDeviceCharacteristics();
            default -> {
                if (Arrays.stream(unit.vendorPageCodes()).noneMatch(code -> code == page)) {
                    throw new ScsiException(Sense.invalidFieldInCdb(2), "no VPD page %02Xh".formatted(page));
                }
                yield InquiryData.page(page, unit.vendorPage(page));
            }
        };
    }

    private byte[] reportLuns(Cdb cdb) throws ScsiException {
        int select = cdb.u8(2);
        if (select > 2) {
            throw new ScsiException(Sense.invalidFieldInCdb(2), "SELECT REPORT %02Xh".formatted(select));
        }
        if (cdb.u32(6) < 16) {
            throw new ScsiException(Sense.invalidFieldInCdb(6), "an allocation length below 16");
        }
        List<LogicalUnit> units = select == 1 ? List.of() : target.units();
        byte[] data = new byte[8 + 8 * units.size()];
        data[2] = (byte) (8 * units.size() >>> 8);
        data[3] = (byte) (8 * units.size());
        for (int i = 0; i < units.size(); i++) {
            data[8 + 8 * i + 1] = (byte) units.get(i).identity().lun();
        }
        return cut(data, cdb.u32(6));
    }

    private static byte[] requestSense(TaskSlot task) throws ScsiException {
        if ((task.cdb.u8(1) & 1) != 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(1), "descriptor sense is not supported");
        }
        return (task.unit == null ? Sense.LUN_NOT_SUPPORTED : Sense.NONE).encode();
    }

    private static byte[] modeSense(TaskSlot task) throws ScsiException {
        return ModePages.sense(task.cdb, present(task).sizeBytes() / BLOCK, BLOCK);
    }

    private static byte[] readCapacity10(LogicalUnit unit) {
        byte[] data = new byte[8];
        long last = Math.min(unit.sizeBytes() / BLOCK - 1, 0xFFFFFFFFL);
        for (int i = 0; i < 4; i++) {
            data[i] = (byte) (last >>> 24 - 8 * i);
            data[4 + i] = (byte) (BLOCK >>> 24 - 8 * i);
        }
        return data;
    }

    private static byte[] serviceActionIn(TaskSlot task) throws ScsiException {
        Cdb cdb = task.cdb;
        if ((cdb.u8(1) & 0x1F) != ScsiOpcode.READ_CAPACITY_16_ACTION) {
            throw new ScsiException(Sense.invalidFieldInCdb(1), "service action %02Xh".formatted(cdb.u8(1) & 0x1F));
        }
        byte[] data = new byte[32];
        long last = present(task).sizeBytes() / BLOCK - 1;
        for (int i = 0; i < 8; i++) {
            data[i] = (byte) (last >>> 56 - 8 * i);
        }
        for (int i = 0; i < 4; i++) {
            data[8 + i] = (byte) (BLOCK >>> 24 - 8 * i);
        }
        return cut(data, cdb.u32(10));
    }
}
