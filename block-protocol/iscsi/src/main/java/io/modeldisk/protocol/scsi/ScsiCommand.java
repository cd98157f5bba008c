package io.modeldisk.protocol.scsi;

/**
 * The commands that the target engine knows (SPC-4 clause 6, SBC-3 clause 5), each with the bits of its CDB that it looks at. The
 * same table decodes a command, refuses bits it does not support, and answers REPORT SUPPORTED OPERATION CODES.
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
    /** WRITE SAME (16), also without a block of data (NDOB). */
    WRITE_SAME_16(Scope.DISK, "93 01 FF FF FF FF FF FF FF FF FF FF FF FF 00 00"),
    /** READ CAPACITY (16), a service action. */
    READ_CAPACITY_16(0x10, "9E 1F 00 00 00 00 00 00 00 00 FF FF FF FF 00 00"),
    /** REPORT LUNS. */
    REPORT_LUNS(Scope.DEVICE, "A0 00 FF 00 00 00 FF FF FF FF 00 00"),
    /** REPORT SUPPORTED OPERATION CODES, a service action. */
    REPORT_SUPPORTED_OPERATION_CODES(0x0C, "A3 1F 87 FF FF FF FF FF FF FF 00 00"),
    /** REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS, a service action. */
    REPORT_SUPPORTED_TASK_MANAGEMENT_FUNCTIONS(0x0D, "A3 1F 80 00 00 00 FF FF FF FF 00 00"),
    /** READ (12). */
    READ_12(Scope.MEDIUM, "A8 18 FF FF FF FF FF FF FF FF 00 00"),
    /** WRITE (12). */
    WRITE_12(Scope.MEDIUM, "AA 18 FF FF FF FF FF FF FF FF 00 00"),
    /** WRITE AND VERIFY (12). */
    WRITE_AND_VERIFY_12(Scope.DISK, "AE 16 FF FF FF FF FF FF FF FF 00 00"),
    /** VERIFY (12). */
    VERIFY_12(Scope.DISK, "AF 16 FF FF FF FF FF FF FF FF 00 00");

    /** The part of the target that a command concerns. */
    private enum Scope {
        /** The unit itself. */
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

    /** GROUP NUMBER is ignored: there are no statistics by group (SBC-3 4.22). */
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
     * The command that a CDB asks for, or null if its operation code is not known.
     *
     * @throws ScsiException if the code is known, but not its service action: INVALID FIELD IN CDB
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
                "service action %02Xh of operation code %02Xh".formatted(action, cdb.opcode()));
        }
        return command;
    }

    /** The first command with this operation code, or null. */
    static ScsiCommand of(int opcode) {
        return FIRST_BY_OPCODE[opcode];
    }

    /** The command with this operation code and service action, or null. */
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

    /** Whether its operation code has service actions. */
    boolean hasServiceAction() {
        return serviceAction != NO_SERVICE_ACTION;
    }

    /** The service action, 0 to 31; only if there is one. */
    int serviceAction() {
        return serviceAction;
    }

    /** Whether only a plain disk has it: a unit that returns the data written to it. */
    public boolean needsDisk() {
        return scope == Scope.DISK;
    }

    /** Which bits of the CDB are looked at; in the place of a service action that itself. */
    byte[] usage() {
        byte[] bytes = usage.bytes();
        if (hasServiceAction()) {
            bytes[1] = (byte) serviceAction;
        }
        return bytes;
    }

    /**
     * Refuses a CDB with an unsupported or reserved bit set.
     *
     * @throws ScsiException INVALID FIELD IN CDB, pointing at the first such bit
     */
    public void check(Cdb cdb) throws ScsiException {
        usage.check(cdb);
    }
}
