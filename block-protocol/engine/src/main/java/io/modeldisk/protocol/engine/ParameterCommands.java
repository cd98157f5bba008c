package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.InquiryData;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ModePages;
import io.modeldisk.protocol.scsi.PortGroupData;
import io.modeldisk.protocol.scsi.ScsiCommand;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import io.modeldisk.protocol.scsi.SupportedOperations;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Runs the commands that return parameter data. The data is cut to the allocation length. Thread-safe. */
record ParameterCommands(FullFeaturePhase.Setup setup, UnitAttentions attentions) {
    private static final int BLOCK = LogicalBlock.BYTES;

    /** Returns the parameter data for a checked CDB. The unit can be null only for INQUIRY, REPORT LUNS and REQUEST SENSE. */
    byte[] data(ScsiCommand definition, DecodedCommand command) throws ScsiException {
        Cdb cdb = command.cdb;
        return switch (definition) {
            case INQUIRY -> cut(inquiry(command), cdb.u16(3));
            case REPORT_LUNS -> cut(reportLuns(cdb), cdb.u32(6));
            case REQUEST_SENSE -> cut(requestSense(command), cdb.u8(4));
            case MODE_SENSE_6 -> cut(modeSense(command), cdb.u8(4));
            case MODE_SENSE_10 -> cut(modeSense(command), cdb.u16(7));
            case READ_CAPACITY_10 -> readCapacity10(command.unit);
            case READ_CAPACITY_16 -> cut(readCapacity16(command.unit), cdb.u32(10));
            case REPORT_TARGET_PORT_GROUPS -> cut(reportPortGroups(cdb), cdb.u32(6));
            case REPORT_SUPPORTED_OPERATION_CODES -> cut(
                new SupportedOperations(command.unit instanceof DiskUnit, setup.portGroups().areReported(),
                    command.unit.vendorCommands())
                    .operationCodes(cdb),
                cdb.u32(6));
            case REPORT_SUPPORTED_TASK_MANAGEMENT_FUNCTIONS -> cut(
                SupportedOperations.taskManagementFunctions(cdb), cdb.u32(6));
            default -> throw new IllegalStateException("the command " + definition + " returns no parameter data");
        };
    }

    private static byte[] cut(byte[] data, long allocationLength) {
        return data.length <= allocationLength ? data : Arrays.copyOf(data, (int) allocationLength);
    }

    private byte[] inquiry(DecodedCommand command) throws ScsiException {
        Cdb cdb = command.cdb;
        boolean vital = (cdb.u8(1) & 1) != 0;
        int page = cdb.u8(2);
        if (!vital && page != 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(2),
                PlainText.format("INQUIRY has page code %02Xh, but the EVPD bit is not set", page));
        }
        if (command.unit == null) {
            if (vital) {
                throw new ScsiException(Sense.LUN_NOT_SUPPORTED, "there is no logical unit with LUN " + command.lun);
            }
            return InquiryData.noUnit();
        }
        LogicalUnitIdentity identity = command.unit.identity();
        byte[] data = vital
            ? vitalPage(command.unit, identity, page)
            : InquiryData.standard(identity.product(), setup.portGroups().areReported());
        data[0] = (byte) command.unit.deviceType();
        return data;
    }

    private byte[] vitalPage(LogicalUnit unit, LogicalUnitIdentity identity, int page) throws ScsiException {
        return switch (page) {
            case InquiryData.SUPPORTED_PAGES -> InquiryData.supportedPages(unit.vendorPageCodes());
            case InquiryData.UNIT_SERIAL_NUMBER -> InquiryData.serialNumber(identity.serialNumber());
            case InquiryData.DEVICE_IDENTIFICATION -> InquiryData.deviceIdentification(
                identity.product(), identity.serialNumber(), identity.eui64(), setup.target().name(),
                setup.portalGroupTag(),
                setup.portGroups().areReported() ? setup.portGroups().own() : 0);
            case InquiryData.BLOCK_LIMITS -> {
                int optimal = unit.optimalTransferBytes() / BLOCK;
                int maxSame = unit instanceof DiskUnit ? DiskCommands.MAX_SAME_BLOCKS : 0;
                yield InquiryData.blockLimits(optimal, ScsiCommands.MAX_TRANSFER_BLOCKS, optimal, maxSame);
            }
            case InquiryData.BLOCK_DEVICE_CHARACTERISTICS -> InquiryData.blockDeviceCharacteristics();
            default -> {
                if (Arrays.stream(unit.vendorPageCodes()).noneMatch(code -> code == page)) {
                    throw new ScsiException(Sense.invalidFieldInCdb(2),
                        PlainText.format("the logical unit has no VPD page %02Xh", page));
                }
                yield InquiryData.page(page, unit.vendorPage(page));
            }
        };
    }

    private byte[] reportLuns(Cdb cdb) throws ScsiException {
        int select = cdb.u8(2);
        if (select > 2) {
            throw new ScsiException(Sense.invalidFieldInCdb(2),
                PlainText.format("SELECT REPORT is %02Xh, but must be from 00h to 02h", select));
        }
        if (cdb.u32(6) < 16) {
            throw new ScsiException(Sense.invalidFieldInCdb(6),
                "REPORT LUNS has an allocation length of " + cdb.u32(6) + " bytes, but must have at least 16");
        }
        List<LogicalUnit> units = select == 1 ? List.of() : setup.target().units();
        ByteBuffer data = ByteBuffer.allocate(8 + 8 * units.size()).putInt(0, 8 * units.size());
        for (int i = 0; i < units.size(); i++) {
            data.put(8 + 8 * i + 1, (byte) units.get(i).identity().lun());
        }
        return data.array();
    }

    private byte[] requestSense(DecodedCommand command) {
        Sense sense = command.unit == null ? Sense.LUN_NOT_SUPPORTED : attentions.take(command.unit);
        if (sense == null) {
            sense = Objects.requireNonNullElse(setup.portGroups().state().sense(), Sense.NONE);
        }
        return (command.cdb.u8(1) & 1) != 0 ? sense.encodeDescriptors() : sense.encode();
    }

    private byte[] reportPortGroups(Cdb cdb) throws ScsiException {
        if (!setup.portGroups().areReported()) {
            throw new ScsiException(Sense.invalidFieldInCdb(1, 4), "the target has only one target port group");
        }
        return PortGroupData.report(cdb, setup.portGroups().own(), setup.portGroups().count(),
            setup.portGroups().state());
    }

    private static byte[] modeSense(DecodedCommand command) throws ScsiException {
        return ModePages.sense(command.cdb, command.unit.sizeBytes() / BLOCK, BLOCK);
    }

    private static byte[] readCapacity10(LogicalUnit unit) {
        long last = Math.min(unit.sizeBytes() / BLOCK - 1, 0xFFFFFFFFL);
        return ByteBuffer.allocate(8).putInt((int) last).putInt(BLOCK).array();
    }

    private static byte[] readCapacity16(LogicalUnit unit) {
        return ByteBuffer.allocate(32).putLong(unit.sizeBytes() / BLOCK - 1).putInt(BLOCK).array();
    }
}
