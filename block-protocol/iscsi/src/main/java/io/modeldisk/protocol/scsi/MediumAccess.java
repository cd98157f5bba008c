package io.modeldisk.protocol.scsi;

/** The ways in which a command can access the medium of its logical unit. */
public enum MediumAccess {
    /** Does not access the medium; the command can return parameter data. */
    NONE,
    /** Reads the medium. */
    READ,
    /** Writes the medium. */
    WRITE,
    /** Waits until earlier writes are complete. */
    SYNCHRONIZE,
    /** Waits until the medium has changed. */
    AWAIT,
    /** Marks a range of the medium without data from the initiator; the command returns parameter data. */
    MARK,
    /** Compares data with the medium. */
    COMPARE,
    /** Writes data to the medium and compares the medium with the data. */
    WRITE_AND_COMPARE,
    /** Compares each block of a range with one block. */
    COMPARE_SAME,
    /** Writes one block to every block of a range. */
    WRITE_SAME;

    /** Returns whether the initiator sends data with a command of this access. */
    public boolean takesData() {
        return switch (this) {
            case WRITE, COMPARE, WRITE_AND_COMPARE, COMPARE_SAME, WRITE_SAME -> true;
            case NONE, READ, SYNCHRONIZE, AWAIT, MARK -> false;
        };
    }

    /** Returns whether a command of this access changes the medium. */
    public boolean writes() {
        return switch (this) {
            case WRITE, WRITE_AND_COMPARE, WRITE_SAME -> true;
            case NONE, READ, SYNCHRONIZE, AWAIT, MARK, COMPARE, COMPARE_SAME -> false;
        };
    }

    /** Returns whether a command of this access returns or compares data of the medium. */
    public boolean reads() {
        return switch (this) {
            case READ, COMPARE, WRITE_AND_COMPARE, COMPARE_SAME -> true;
            case NONE, SYNCHRONIZE, AWAIT, MARK, WRITE, WRITE_SAME -> false;
        };
    }
}
