package io.modeldisk.protocol.scsi;

/** The access of a command to the medium of its logical unit. */
public enum MediumAccess {
    /** None; the command may return parameter data. */
    NONE,
    /** Reads the medium. */
    READ,
    /** Writes the medium. */
    WRITE,
    /** Waits until earlier writes are complete. */
    SYNCHRONIZE,
    /** Compares data with the medium. */
    COMPARE,
    /** Writes the medium and compares. */
    WRITE_AND_COMPARE,
    /** Compares each block of a range with one block. */
    COMPARE_SAME,
    /** Writes one block to every block of a range. */
    WRITE_SAME;

    /** Whether the initiator sends data. */
    public boolean takesData() {
        return switch (this) {
            case WRITE, COMPARE, WRITE_AND_COMPARE, COMPARE_SAME, WRITE_SAME -> true;
            case NONE, READ, SYNCHRONIZE -> false;
        };
    }

    /** Whether the medium changes. */
    public boolean writes() {
        return switch (this) {
            case WRITE, WRITE_AND_COMPARE, WRITE_SAME -> true;
            case NONE, READ, SYNCHRONIZE, COMPARE, COMPARE_SAME -> false;
        };
    }

    /** Whether the command returns data of the medium, or compares it. */
    public boolean reads() {
        return switch (this) {
            case READ, COMPARE, WRITE_AND_COMPARE, COMPARE_SAME -> true;
            case NONE, SYNCHRONIZE, WRITE, WRITE_SAME -> false;
        };
    }
}
