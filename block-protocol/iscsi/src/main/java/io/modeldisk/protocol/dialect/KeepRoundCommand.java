package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.nio.ByteBuffer;

/**
 * The vendor-specific command KEEP ROUND of the train unit. With this command, a nexus that is not a learner reads a range of
 * blocks as they were after one round, while learners continue. From KEEP to END, each PULL of the nexus returns the weights
 * of the kept round. PROTOCOL.md describes the rules. All numbers are big-endian. The CDB has 16 bytes:
 *
 * <ul>
 * <li>byte 0: C8h
 * <li>byte 1: the {@link Service}
 * <li>bytes 2 to 4: the first block of the range, as a number within the shard
 * <li>bytes 5 to 7: the number of blocks, at least 1
 * <li>bytes 8 to 13: the round; 0 for LOOK and END, and in the modes asp and ssp, in which rounds do not close
 * <li>bytes 14 and 15: reserved and CONTROL, 0
 * </ul>
 */
public final class KeepRoundCommand {
    /** The operation code. */
    public static final int OPCODE = 0xC8;

    /** The bits of the CDB that have a meaning. */
    public static final CdbUsage USAGE = CdbUsage.parse("C8 03 FF FF FF FF FF FF FF FF FF FF FF FF 00 00");

    /** The number of bytes that KEEP ROUND returns. */
    public static final int DATA_BYTES = 72 + Long.BYTES;

    /** The highest number that the three bytes of a block number or of a number of blocks can hold. */
    public static final int MAX_BLOCKS = 0xFF_FFFF;

    private static final int SERVICE_FIELD = 1;
    private static final int RANGE_FIELD = 2;
    private static final int COUNT_BITS = 24;
    private static final int RANGE_SHIFT = 16;

    private KeepRoundCommand() {}

    /** The services of the command. */
    public enum Service {
        /** Returns the state of the range. */
        LOOK,
        /** Keeps a round of the range for the nexus. */
        KEEP,
        /** Ends the read of the nexus. The result shows whether all weights that the nexus has pulled belong to one round. */
        END
    }

    /** The result of the command. */
    public enum Result {
        /**
         * The service succeeded. After END, this result means that all weights that the nexus has pulled belong to the kept
         * round.
         */
        DONE,
        /**
         * The shard no longer has the weights of the round, because a block of the range was updated later. The nexus can request
         * a later round.
         */
        PASSED,
        /**
         * The shard keeps another round for other readers, or has too many readers. The nexus that has sent this command can
         * request the round that is kept, or try again.
         */
        OTHER_ROUND,
        /**
         * The shard keeps no round for the nexus, or could not keep all weights of that round. The nexus must discard the weights
         * that it has pulled.
         */
        LOST
    }

    /**
     * The data that the command returns.
     *
     * @param minRound the number of closed rounds of the block with the fewest closed rounds in the range; -1 in a mode in which
     *     rounds do not close
     * @param maxRound the number of closed rounds of the block with the most closed rounds in the range
     * @param minVersion the number of updates of the block with the fewest updates in the range; for END, the lowest number among
     *     the pulled weights
     * @param maxVersion the number of updates of the block with the most updates in the range; for END, the highest number among
     *     the pulled weights
     * @param updates the sum of the updates of all blocks of the shard
     * @param rawWrites the number of writes to LUN 1
     * @param keptRound the round that the shard keeps for any nexus; -1 if there is none
     * @param history the random number that identifies the updates of the shard, as in JOIN
     * @param learners the number of learners
     */
    public record Answer(Result result, long minRound, long maxRound, long minVersion, long maxVersion, long updates,
        long rawWrites, long keptRound, long history, int learners) {
        /** Encodes the data. */
        public byte[] toBytes() {
            return ByteBuffer.allocate(DATA_BYTES).putInt(result.ordinal()).putInt(learners).putLong(minRound)
                .putLong(maxRound).putLong(minVersion).putLong(maxVersion).putLong(updates).putLong(rawWrites)
                .putLong(keptRound).putLong(history).array();
        }

        /** Decodes the data. */
        public static Answer fromBytes(byte[] data) {
            ByteBuffer buffer = ByteBuffer.wrap(data);
            Result result = Result.values()[Math.clamp(buffer.getInt(), 0, Result.values().length - 1)];
            int learners = buffer.getInt();
            return new Answer(result, buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong(),
                buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong(), learners);
        }

        /**
         * Combines this answer with the answer of the next shard. The combined answer has the result that is later in the order
         * of {@link Result}.
         */
        public Answer and(Answer other) {
            return new Answer(result.compareTo(other.result) >= 0 ? result : other.result,
                Math.min(minRound, other.minRound), Math.max(maxRound, other.maxRound),
                Math.min(minVersion, other.minVersion), Math.max(maxVersion, other.maxVersion),
                updates + other.updates, rawWrites + other.rawWrites, Math.max(keptRound, other.keptRound),
                31 * history + other.history, Math.max(learners, other.learners));
        }
    }

    /** Returns the CDB of the command. */
    public static byte[] cdb(Service service, int firstBlock, int blocks, long round) {
        return ByteBuffer.allocate(Cdb.MAX_BYTES).put((byte) OPCODE).put((byte) service.ordinal())
            .putLong(RANGE_FIELD, ((long) firstBlock << COUNT_BITS | blocks) << RANGE_SHIFT)
            .putLong(RoundCdb.BLOCKS_FIELD, RoundCdb.blocksAndRound(blocks & 0xFFFF, round)).array();
    }

    /**
     * Returns the service in a CDB.
     *
     * @throws ScsiException if the field is reserved
     */
    public static Service service(Cdb cdb) throws ScsiException {
        int service = cdb.u8(SERVICE_FIELD);
        if (service >= Service.values().length) {
            throw new ScsiException(Sense.invalidFieldInCdb(SERVICE_FIELD),
                "KEEP ROUND has no service " + service + "; the services are 0 (LOOK), 1 (KEEP) and 2 (END)");
        }
        return Service.values()[service];
    }

    /** Returns the first block in a CDB. */
    public static int firstBlock(Cdb cdb) {
        return (int) (cdb.u64(RANGE_FIELD) >>> RANGE_SHIFT + COUNT_BITS);
    }

    /** Returns the number of blocks in a CDB. */
    public static int blocks(Cdb cdb) {
        return (int) (cdb.u64(RANGE_FIELD) >>> RANGE_SHIFT) & MAX_BLOCKS;
    }

    /**
     * Returns the exception for a range that does not lie in the shard.
     *
     * @param shardBlocks the number of blocks of the shard
     */
    public static ScsiException outOfRange(Cdb cdb, int shardBlocks) {
        return new ScsiException(Sense.invalidFieldInCdb(RANGE_FIELD), "KEEP ROUND has a range of " + blocks(cdb)
            + " blocks from block " + firstBlock(cdb) + ", but the shard has " + shardBlocks + " blocks");
    }
}
