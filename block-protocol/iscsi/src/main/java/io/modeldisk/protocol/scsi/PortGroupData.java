package io.modeldisk.protocol.scsi;

/**
 * Builds the data of REPORT TARGET PORT GROUPS (SPC-4 6.37). Each target port group is one process with one target port, whose
 * relative identifier is the number of the group.
 *
 * <p>While the reporting group is active, all other groups are in standby. A group that is not active reports only itself,
 * because its process does not know which process is active. An initiator that received a wrong state of the active group would
 * not use the active group.
 */
public final class PortGroupData {
    /** The maximum number of groups. */
    public static final int MAX_GROUPS = 16;

    private static final int FORMAT_BYTE = 1;
    private static final int LENGTH_ONLY = 0;
    private static final int EXTENDED = 1;

    /** The bits of the states that a group can have: transitioning, unavailable, standby and active/optimized. */
    private static final int SUPPORTED_STATES = 0x80 | 0x08 | 0x04 | 0x01;
    /** The status code of a group whose state the device changed without a command of an initiator. */
    private static final int CHANGED_IMPLICITLY = 0x02;

    private PortGroupData() {}

    /**
     * Returns the parameter data in the format that the CDB requests.
     *
     * @param own the group that reports, from 1
     * @param count the number of groups
     * @param state the state of the group that reports
     */
    public static byte[] report(Cdb cdb, int own, int count, AccessState state) throws ScsiException {
        int format = cdb.u8(FORMAT_BYTE) >> 5;
        if (format != LENGTH_ONLY && format != EXTENDED) {
            throw new ScsiException(Sense.invalidFieldInCdb(FORMAT_BYTE, 7),
                "REPORT TARGET PORT GROUPS has the reserved parameter data format " + format);
        }
        DataBuilder data = new DataBuilder(format == EXTENDED ? 8 : 4);
        if (format == EXTENDED) {
            data.u8(4, EXTENDED << 4);
        }
        for (int group = 1; group <= count; group++) {
            if (group == own) {
                data.append(descriptor(group, state));
            } else if (state == AccessState.ACTIVE) {
                data.append(descriptor(group, AccessState.STANDBY));
            }
        }
        return data.u32(0, data.length() - 4L).build();
    }

    private static byte[] descriptor(int group, AccessState state) {
        return new DataBuilder(12)
            .u8(0, state.code())
            .u8(1, SUPPORTED_STATES)
            .u16(2, group)
            .u8(5, CHANGED_IMPLICITLY)
            .u8(7, 1)
            .u16(10, group)
            .build();
    }
}
