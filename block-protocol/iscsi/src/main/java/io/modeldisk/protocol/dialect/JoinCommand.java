package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command JOIN of the train unit (LUN 0). JOIN makes the nexus a learner from a certain round on. If the
 * nexus already is a learner and does not request a new membership, JOIN returns the first round of that learner.
 *
 * <p>In the CDB, byte 0 is C0h, bit 0 of byte 1 (ANEW) requests a new membership, and bytes 2 to 9 are the earliest round to join
 * at (0: any round). All other bytes are zero. The command returns 32 bytes: the round at which the learner has joined, the
 * random number that identifies this membership, the random number that identifies the history of the shard, and the round of the
 * checkpoint from which the shard has started. All numbers are big-endian.
 *
 * <p>The shards of a model do not agree on a round among themselves. A learner therefore first asks each shard for the earliest
 * round at which the learner can join. Then the learner joins all shards at the latest of these rounds, so it starts with the
 * same round on all shards.
 */
public final class JoinCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC0;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C0 01 FF FF FF FF FF FF FF FF 00 00 00 00 00 00");

    /** The number of bytes that JOIN returns. */
    public static final int DATA_BYTES = 4 * Long.BYTES;

    private static final int FLAGS = 1;
    private static final int ANEW = 1;
    private static final int EARLIEST_ROUND = 2;

    /**
     * The data that a shard returns for JOIN.
     *
     * @param joinRound the first round in which the learner participates
     * @param membership the random number that identifies the membership. A new membership has a new number, and starts without
     *     the rounds that the learner pushed in the earlier membership
     * @param history the random number that identifies the updates of the shard. If the number changes, the shard has lost
     *     updates, for example because it was restarted from a checkpoint. 0 from a shard of an older version
     * @param startRound with bsp, the round of the checkpoint from which the shard has started. The checkpoint includes all
     *     pushes of the history up to this round, and no later push. 0 if there is no such round
     */
    public record Answer(long joinRound, long membership, long history, long startRound) {}

    private JoinCommand() {}

    /** Returns the CDB of a JOIN at this round or later. If {@code anew} is true, the shard first ends an existing membership. */
    public static byte[] cdb(long earliestRound, boolean anew) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put(0, (byte) OPCODE).put(FLAGS, (byte) (anew ? ANEW : 0))
            .putLong(EARLIEST_ROUND, earliestRound).array();
    }

    /**
     * Returns the earliest round that a CDB requests.
     *
     * @throws ScsiException if the round is above {@link RoundCdb#MAX_ROUND}
     */
    public static long earliestRound(Cdb cdb) throws ScsiException {
        long round = cdb.u64(EARLIEST_ROUND);
        if (round < 0 || round > RoundCdb.MAX_ROUND) {
            throw new ScsiException(Sense.invalidFieldInCdb(EARLIEST_ROUND),
                "JOIN requests round " + Long.toUnsignedString(round) + "; the highest round is " + RoundCdb.MAX_ROUND);
        }
        return round;
    }

    /** Returns whether a CDB requests a new membership. */
    public static boolean anew(Cdb cdb) {
        return (cdb.u8(FLAGS) & ANEW) != 0;
    }

    /** Encodes the data that JOIN returns. */
    public static byte[] data(Answer answer) {
        return ByteBuffer.allocate(DATA_BYTES).putLong(answer.joinRound).putLong(answer.membership)
            .putLong(answer.history).putLong(answer.startRound).array();
    }

    /** Decodes the data that JOIN returned. */
    public static Answer answer(byte[] data) {
        ByteBuffer buffer = ByteBuffer.wrap(data);
        return new Answer(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
    }
}
