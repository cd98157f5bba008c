package io.modeldisk.protocol.scsi;

import java.util.EnumSet;
import java.util.Set;

/**
 * The asymmetric access state of a target port group (SPC-4 section 5.15.2). The state determines which commands the logical
 * units run when commands arrive through a port of the group.
 */
public enum AccessState {
    /** Active/optimized: all commands are run. */
    ACTIVE(0x0, null),
    /** Standby: the commands that do not access the medium are run, except TEST UNIT READY. */
    STANDBY(0x2, Sense.of(0x2, 0x04, 0x0B)),
    /** Unavailable: only INQUIRY, REPORT LUNS, REQUEST SENSE and REPORT TARGET PORT GROUPS are run. */
    UNAVAILABLE(0x3, Sense.of(0x2, 0x04, 0x0C)),
    /** Transitioning between two other states: the same commands are run as in the state unavailable. */
    TRANSITIONING(0xF, Sense.of(0x2, 0x04, 0x0A));

    private static final Set<ScsiCommand> ALWAYS_RUN = EnumSet.of(ScsiCommand.INQUIRY, ScsiCommand.REPORT_LUNS,
        ScsiCommand.REQUEST_SENSE, ScsiCommand.REPORT_TARGET_PORT_GROUPS);
    /**
     * The commands that are also run in standby. SPC-4 does not require READ CAPACITY there, but Linux reads the capacity when it
     * attaches a disk.
     */
    private static final Set<ScsiCommand> RUN_IN_STANDBY = EnumSet.of(ScsiCommand.MODE_SENSE_6,
        ScsiCommand.MODE_SENSE_10, ScsiCommand.READ_CAPACITY_10, ScsiCommand.READ_CAPACITY_16,
        ScsiCommand.REPORT_SUPPORTED_OPERATION_CODES, ScsiCommand.REPORT_SUPPORTED_TASK_MANAGEMENT_FUNCTIONS);

    private final int code;
    private final Sense sense;

    AccessState(int code, Sense sense) {
        this.code = code;
        this.sense = sense;
    }

    /** Returns the value of the field ASYMMETRIC ACCESS STATE. */
    int code() {
        return code;
    }

    /** Returns the sense with which commands fail in this state, unless the state runs them; null for {@link #ACTIVE}. */
    public Sense sense() {
        return sense;
    }

    /**
     * Returns whether a command is run in this state. Null stands for a vendor-specific command, which only the state active
     * runs.
     */
    public boolean runs(ScsiCommand command) {
        return switch (this) {
            case ACTIVE -> true;
            case STANDBY -> command != null && (ALWAYS_RUN.contains(command) || RUN_IN_STANDBY.contains(command));
            case UNAVAILABLE, TRANSITIONING -> command != null && ALWAYS_RUN.contains(command);
        };
    }

    /** Returns the state whose {@link #sense} is equal to {@code sense}; null if no state has this sense. */
    public static AccessState ofSense(Sense sense) {
        for (AccessState state : values()) {
            if (sense.equals(state.sense)) {
                return state;
            }
        }
        return null;
    }
}
