package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command AWAIT VERSION of the train unit. The command waits until the lowest version among the shard's
 * blocks differs from the version in the CDB. The command then returns the {@link ShardCounters}. If the version does not change
 * for too long, the command ends with BUSY. The command needs no right, and the nexus need not be a learner.
 *
 * <p>In the CDB, byte 0 is C7h, and bytes 2 to 9 are the version that the initiator already has, big-endian. All other bytes are
 * zero. The version {@link #NONE} differs from every version.
 */
public final class AwaitCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC7;

    /**
     * The bits of the CDB that have a meaning. A logical unit supports the command if the unit's list of commands contains this
     * object (compared by identity).
     */
    public static final CdbUsage USAGE = CdbUsage.parse("C7 00 FF FF FF FF FF FF FF FF 00 00 00 00 00 00");

    /** The version in the CDB of a command that must not wait. */
    public static final long NONE = -1;

    /** The end of the value of the login key {@code X-io.modeldisk.learner} in a session that only follows the model. */
    public static final String FOLLOWER_SUFFIX = "(follower)";

    private static final int VERSION = 2;

    private AwaitCommand() {}

    /** Returns the CDB of a command that waits while the version is {@code known}. */
    public static byte[] cdb(long known) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).putLong(VERSION, known).array();
    }

    /** Returns the version in a CDB, which the initiator already has. */
    public static long known(Cdb cdb) {
        return cdb.u64(VERSION);
    }
}
