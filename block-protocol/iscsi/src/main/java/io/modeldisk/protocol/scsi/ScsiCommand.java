package io.modeldisk.protocol.scsi;

import io.modeldisk.platform.text.PlainText;

/**
 * The commands that the target engine supports (SPC-4 clause 6, SBC-3 clause 5), each with the bits of its CDB that have a
 * meaning. The table is used to decode commands, to refuse unsupported bits, and for REPORT SUPPORTED OPERATION CODES.
 */
public enum ScsiCommand {
    /** TEST UNIT READY. */
    TEST_UNIT_READY(Scope.DEVICE, "00 00 00 00 00 00"),
    /** REQUEST SENSE. */
    REQUEST_SENSE(Scope.DEVICE, "03 01 00 00 FF 00"),
    /** READ (6). */
    READ_6(Scope.MEDIUM, "08 1F FF FF FF 00"),
    /** WRITE (6). */
    WRITE_6(Scope.MEDIUM, "0A 1F FF FF FF 00"),
    /** INQUIRY. */
    INQUIRY(Scope.DEVICE, "12 01 FF FF FF 00"),
    /** MODE SENSE (6). */
    MODE_SENSE_6(Scope.DEVICE, "1A 08 FF FF FF 00"),
    /** READ CAPACITY (10). */
    READ_CAPACITY_10(Scope.DEVICE, "25 00 00 00 00 00 00 00 00 00"),
    /** READ (10). */
    READ_10(Scope.MEDIUM, "28 18 FF FF FF FF 00 FF FF 00"),
    /** WRITE (10). */
    WRITE_10(Scope.MEDIUM, "2A 18 FF FF FF FF 00 FF FF 00"),
    /** WRITE AND VERIFY (10). */
    WRITE_AND_VERIFY_10(Scope.DISK, "2E 16 FF FF FF FF 00 FF FF 00"),
    /** VERIFY (10). */
    VERIFY_10(Scope.DISK, "2F 16 FF FF FF FF 00 FF FF 00"),
    /** PRE-FETCH (10). */
    PRE_FETCH_10(Scope.MEDIUM, "34 02 FF FF FF FF 00 FF FF 00"),
    /** SYNCHRONIZE CACHE (10). */
    SYNCHRONIZE_CACHE_10(Scope.MEDIUM, "35 02 FF FF FF FF 00 FF FF 00"),
    /** WRITE SAME (10). */
    WRITE_SAME_10(Scope.DISK, "41 00 FF FF FF FF 00 FF FF 00"),
    /** MODE SENSE (10). */
    MODE_SENSE_10(Scope.DEVICE, "5A 18 FF FF 00 00 00 FF FF 00"),
    /** READ (16). */
    READ_16(Scope.MEDIUM, "88 18 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** WRITE (16). */
    WRITE_16(Scope.MEDIUM, "8A 18 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** WRITE AND VERIFY (16). */
    WRITE_AND_VERIFY_16(Scope.DISK, "8E 16 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** VERIFY (16). */
    VERIFY_16(Scope.DISK, "8F 16 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** PRE-FETCH (16). */
    PRE_FETCH_16(Scope.MEDIUM, "90 02 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** SYNCHRONIZE CACHE (16). */
    SYNCHRONIZE_CACHE_16(Scope.MEDIUM, "91 02 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** WRITE SAME (16). With the NDOB bit, the command has no data. */
    WRITE_SAME_16(Scope.DISK, "93 01 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** READ CAPACITY (16), a service action of operation code 9Eh. */
    READ_CAPACITY_16(0x10, "9E 1F 00 00 00 00 00 00 00 00 FF FF FF FF 00 00"),
    /** REPORT LUNS. */
    REPORT_LUNS(Scope.DEVICE, "A0 00 FF 00 00 00 FF FF FF FF 00 00"),
    /** REPORT TARGET PORT GROUPS, a service action of operation code A3h. The top bits of byte 1 are the data format. */
    REPORT_TARGET_PORT_GROUPS(0x0A, "A3 FF 00 00 00 00 FF FF FF FF 00 00"),
    /** REPORT SUPPORTED OPERATION CODES, a service action of operation code A3h. */
    REPORT_SUPPORTED_OPERATION_CODES(0x0C, "A3 1F 87 FF FF FF FF FF FF FF 00 00"),
    /** REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS, a service action of operation code A3h. */
    REPORT_SUPPORTED_TASK_MANAGEMENT_FUNCTIONS(0x0D, "A3 1F 80 00 00 00 FF FF FF FF 00 00"),
    /** READ (12). */
    READ_12(Scope.MEDIUM, "A8 18 FF FF FF FF FF FF FF FF 00 00"),
    /** WRITE (12). */
    WRITE_12(Scope.MEDIUM, "AA 18 FF FF FF FF FF FF FF FF 00 00"),
    /** WRITE AND VERIFY (12). */
    WRITE_AND_VERIFY_12(Scope.DISK, "AE 16 FF FF FF FF FF FF FF FF 00 00"),
    /** VERIFY (12). */
    VERIFY_12(Scope.DISK, "AF 16 FF FF FF FF FF FF FF FF 00 00");

    /** The part of a logical unit that a command accesses. */
    private enum Scope {
        /** The logical unit itself. */
        DEVICE,
        /** A range of the medium. */
        MEDIUM,
        /** A range of the medium of a plain disk. */
        DISK
    }

    private static final int NO_SERVICE_ACTION = -1;
    private static final int SERVICE_ACTION_MASK = 0x1F;
    private static final int GROUP_NUMBER_MASK = 0x1F;
    private static final ScsiCommand[] FIRST_BY_OPCODE = firstByOpcode();

    private final Scope scope;
    private final int serviceAction;
    private final CdbUsage usage;

    ScsiCommand(Scope scope, String usage) {
        this(scope, NO_SERVICE_ACTION, usage);
    }

    ScsiCommand(int serviceAction, String usage) {
        this(Scope.DEVICE, serviceAction, usage);
    }

    ScsiCommand(Scope scope, int serviceAction, String usage) {
        this.scope = scope;
        this.serviceAction = serviceAction;
        CdbUsage parsed = CdbUsage.parse(usage);
        this.usage = scope == Scope.DEVICE ? parsed : ignoringGroupNumber(parsed);
    }

    /** Adds GROUP NUMBER to the ignored bits, because the target keeps no statistics of groups (SBC-3 4.22). */
    private static CdbUsage ignoringGroupNumber(CdbUsage usage) {
        return switch (usage.opcode() >> 5) {
            case 1, 2 -> usage.ignoring(6, GROUP_NUMBER_MASK);
            case 4 -> usage.ignoring(14, GROUP_NUMBER_MASK);
            case 5 -> usage.ignoring(10, GROUP_NUMBER_MASK);
            default -> usage;
        };
    }

    private static ScsiCommand[] firstByOpcode() {
        ScsiCommand[] table = new ScsiCommand[256];
        for (ScsiCommand command : values()) {
            if (table[command.opcode()] == null) {
                table[command.opcode()] = command;
            }
        }
        return table;
    }

    /**
     * Returns the command in a CDB, or null if the operation code is unknown.
     *
     * @throws ScsiException INVALID FIELD IN CDB, if the operation code is known but the service action is unknown
     */
    public static ScsiCommand find(Cdb cdb) throws ScsiException {
        ScsiCommand first = FIRST_BY_OPCODE[cdb.opcode()];
        if (first == null || !first.hasServiceAction()) {
            return first;
        }
        int action = cdb.u8(1) & SERVICE_ACTION_MASK;
        ScsiCommand command = of(cdb.opcode(), action);
        if (command == null) {
            throw new ScsiException(Sense.invalidFieldInCdb(1, 4),
                PlainText.format("operation code %02Xh has no service action %02Xh", cdb.opcode(), action));
        }
        return command;
    }

    /** Returns the first command with this operation code, or null. */
    static ScsiCommand of(int opcode) {
        return FIRST_BY_OPCODE[opcode];
    }

    /** Returns the command with this operation code and service action, or null. */
    static ScsiCommand of(int opcode, int serviceAction) {
        for (ScsiCommand command : values()) {
            if (command.opcode() == opcode && command.serviceAction == serviceAction) {
                return command;
            }
        }
        return null;
    }

    /** The operation code. */
    public int opcode() {
        return usage.opcode();
    }

    /** Returns whether the operation code of this command has service actions. */
    boolean hasServiceAction() {
        return serviceAction != NO_SERVICE_ACTION;
    }

    /** The service action, 0 to 31; -1 if the command is not a service action. */
    int serviceAction() {
        return serviceAction;
    }

    /** Returns whether only a plain disk supports this command. On a plain disk, a read returns the data that was written. */
    public boolean needsDisk() {
        return scope == Scope.DISK;
    }

    /** Returns the mask of the CDB bits that have a meaning. The field SERVICE ACTION contains the service action, not a mask. */
    byte[] usage() {
        byte[] bytes = usage.bytes();
        if (hasServiceAction()) {
            bytes[1] = (byte) (bytes[1] & ~SERVICE_ACTION_MASK | serviceAction);
        }
        return bytes;
    }

    /**
     * Checks that a CDB has no bit set that is reserved or unsupported.
     *
     * @throws ScsiException INVALID FIELD IN CDB, with a pointer to the first wrong bit
     */
    public void check(Cdb cdb) throws ScsiException {
        usage.check(cdb);
    }
}
