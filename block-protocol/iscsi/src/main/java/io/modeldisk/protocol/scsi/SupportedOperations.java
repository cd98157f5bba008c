package io.modeldisk.protocol.scsi;

import io.modeldisk.platform.text.PlainText;
import java.util.List;

/**
 * Builds the data of REPORT SUPPORTED OPERATION CODES and REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS (SPC-4 6.35 and 6.36).
 *
 * @param disk whether the unit supports the commands of a plain disk
 * @param portGroups whether the target has several target port groups
 * @param vendorCommands the vendor-specific commands of the unit
 */
public record SupportedOperations(boolean disk, boolean portGroups, List<CdbUsage> vendorCommands) {
    private static final int ALL_COMMANDS = 0;
    private static final int ONE_OPCODE = 1;
    private static final int ONE_SERVICE_ACTION = 2;
    private static final int ONE_OF_EITHER = 3;
    private static final int REPORTING_OPTIONS_BYTE = 2;
    private static final int REQUESTED_OPCODE_BYTE = 3;
    private static final int REQUESTED_ACTION_BYTE = 4;

    private static final int NOT_SUPPORTED = 1;
    private static final int SUPPORTED_AS_STANDARD = 3;
    private static final int SUPPORTED_AS_VENDOR = 5;

    private static final int TIMEOUTS_BYTES = 12;
    /** The bits of ABORT TASK, ABORT TASK SET, CLEAR TASK SET, LOGICAL UNIT RESET and TARGET RESET (TARGET WARM RESET). */
    private static final int TASK_MANAGEMENT_FUNCTIONS = 0x80 | 0x40 | 0x10 | 0x08 | 0x02;

    /** Returns the data of REPORT SUPPORTED OPERATION CODES. */
    public byte[] operationCodes(Cdb cdb) throws ScsiException {
        boolean timeouts = (cdb.u8(REPORTING_OPTIONS_BYTE) & 0x80) != 0;
        int options = cdb.u8(REPORTING_OPTIONS_BYTE) & 0x07;
        if (options == ALL_COMMANDS) {
            return all(timeouts);
        }
        if (options > ONE_OF_EITHER) {
            throw new ScsiException(Sense.invalidFieldInCdb(REPORTING_OPTIONS_BYTE, 2),
                "REPORT SUPPORTED OPERATION CODES has reserved reporting options " + options);
        }
        int opcode = cdb.u8(REQUESTED_OPCODE_BYTE);
        int action = cdb.u16(REQUESTED_ACTION_BYTE);
        ScsiCommand command = ScsiCommand.of(opcode);
        CdbUsage vendorCommand = vendorCommand(opcode);
        boolean hasActions = command != null && command.hasServiceAction();
        boolean hasNone = vendorCommand != null || command != null && isSupported(command) && !hasActions;
        if (options == ONE_OPCODE && hasActions || options == ONE_SERVICE_ACTION && hasNone) {
            throw new ScsiException(Sense.invalidFieldInCdb(REPORTING_OPTIONS_BYTE, 2),
                PlainText.format(
                    "REPORT SUPPORTED OPERATION CODES has wrong reporting options: operation code %02Xh has %s", opcode,
                    hasActions ? "service actions" : "no service action"));
        }
        if (hasActions) {
            command = ScsiCommand.of(opcode, action);
        } else if (options != ONE_OPCODE && action != 0) {
            return notSupported();
        }
        if (vendorCommand != null) {
            return one(vendorCommand.bytes(), SUPPORTED_AS_VENDOR, timeouts);
        }
        return command != null && isSupported(command)
            ? one(command.usage(), SUPPORTED_AS_STANDARD, timeouts)
            : notSupported();
    }

    private static byte[] notSupported() {
        return new DataBuilder(4).u8(1, NOT_SUPPORTED).build();
    }

    private CdbUsage vendorCommand(int opcode) {
        return vendorCommands.stream().filter(command -> command.opcode() == opcode).findFirst().orElse(null);
    }

    private boolean isSupported(ScsiCommand command) {
        return command == ScsiCommand.REPORT_TARGET_PORT_GROUPS ? portGroups : disk || !command.needsDisk();
    }

    private byte[] all(boolean timeouts) {
        DataBuilder data = new DataBuilder(4);
        for (ScsiCommand command : ScsiCommand.values()) {
            if (isSupported(command)) {
                boolean action = command.hasServiceAction();
                appendDescriptor(data, command.usage(), action ? command.serviceAction() : 0, action, timeouts);
            }
        }
        for (CdbUsage own : vendorCommands) {
            appendDescriptor(data, own.bytes(), 0, false, timeouts);
        }
        return data.u32(0, data.length() - 4L).build();
    }

    private static void appendDescriptor(
        DataBuilder data, byte[] usage, int serviceAction, boolean hasServiceAction, boolean timeouts) {
        data.append(new DataBuilder(8)
            .u8(0, usage[0])
            .u16(2, serviceAction)
            .u8(5, (timeouts ? 2 : 0) | (hasServiceAction ? 1 : 0))
            .u16(6, usage.length)
            .build());
        if (timeouts) {
            data.append(timeouts());
        }
    }

    private static byte[] one(byte[] usage, int support, boolean timeouts) {
        DataBuilder data = new DataBuilder(4).u8(1, support | (timeouts ? 0x80 : 0)).u16(2, usage.length).append(usage);
        return timeouts ? data.append(timeouts()).build() : data.build();
    }

    /** Returns a timeouts descriptor without values, because the duration of a command depends on other learners. */
    private static byte[] timeouts() {
        return new DataBuilder(TIMEOUTS_BYTES).u16(0, TIMEOUTS_BYTES - 2).build();
    }

    /** Returns the data of REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS. */
    public static byte[] taskManagementFunctions(Cdb cdb) throws ScsiException {
        if (cdb.u32(6) < 4) {
            throw new ScsiException(Sense.invalidFieldInCdb(6),
                "REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS has an allocation length of " + cdb.u32(6)
                    + " bytes; the minimum is 4");
        }
        boolean extended = (cdb.u8(2) & 0x80) != 0;
        DataBuilder data = new DataBuilder(extended ? 16 : 4).u8(0, TASK_MANAGEMENT_FUNCTIONS);
        return extended ? data.u8(3, 12).build() : data.build();
    }
}
