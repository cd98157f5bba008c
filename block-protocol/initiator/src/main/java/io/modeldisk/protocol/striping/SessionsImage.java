package io.modeldisk.protocol.striping;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A learner in a model, as another process continues it. Its size depends only on the model.
 *
 * @param joined whether the learner has joined; if not, the other values have no meaning
 * @param skipsRounds whether the learner skips rounds that the shards have not seen
 * @param ledger what the learner has pushed
 * @param memberships the memberships of the shards
 */
public record SessionsImage(boolean joined, boolean skipsRounds, Ledger ledger, List<Membership> memberships) {
    /** The image of a learner that keeps no state in its process. */
    public static final SessionsImage NONE = new SessionsImage(false, false,
        new Ledger(new long[0], new long[0], new long[0], new long[0], new long[0], new long[0], new long[0], false, 0),
        List.of());

    /**
     * The state of a {@link PushLedger}, whose fields have the same names. Sets of bits are in words of 64 bits.
     *
     * @param round the rounds of the blocks
     * @param clock for each block, the last round of which the learner has pushed the whole block
     * @param begun the logical blocks whose push has begun
     * @param taken the logical blocks that the shards have
     * @param repeatable the logical blocks that may be pushed again
     * @param firstRound the first rounds of the memberships
     * @param doubtful the shards that forgot the learner after a call had failed
     * @param untold whether the learner does not know yet that its gradient was abandoned
     * @param roundsBack the number of rounds that were taken back
     */
    public record Ledger(
        long[] round, long[] clock, long[] begun, long[] taken, long[] repeatable, long[] firstRound, long[] doubtful,
        boolean untold, long roundsBack) {}

    /**
     * The state of a {@link ShardMembership}, whose fields have the same names.
     *
     * @param isid the ISID of the session
     * @param membership the identifier of the membership
     * @param history the number of the shard's history
     * @param startRound the start round of the shard
     */
    public record Membership(long isid, long membership, long history, long startRound) {}

    /** Writes the image. */
    public void write(DataOutput to) throws IOException {
        to.writeBoolean(joined);
        to.writeBoolean(skipsRounds);
        for (long[] numbers : List.of(ledger.round, ledger.clock, ledger.begun, ledger.taken, ledger.repeatable,
            ledger.firstRound, ledger.doubtful)) {
            write(numbers, to);
        }
        to.writeBoolean(ledger.untold);
        to.writeLong(ledger.roundsBack);
        to.writeInt(memberships.size());
        for (Membership each : memberships) {
            to.writeLong(each.isid);
            to.writeLong(each.membership);
            to.writeLong(each.history);
            to.writeLong(each.startRound);
        }
    }

    /** Reads an image. */
    public static SessionsImage read(DataInput from) throws IOException {
        boolean joined = from.readBoolean();
        boolean skipsRounds = from.readBoolean();
        Ledger ledger = new Ledger(longs(from), longs(from), longs(from), longs(from), longs(from), longs(from),
            longs(from), from.readBoolean(), from.readLong());
        List<Membership> memberships = new ArrayList<>();
        for (int left = from.readInt(); left > 0; left--) {
            memberships.add(new Membership(from.readLong(), from.readLong(), from.readLong(), from.readLong()));
        }
        return new SessionsImage(joined, skipsRounds, ledger, memberships);
    }

    /** Writes numbers, which {@link #longs} reads. */
    public static void write(long[] numbers, DataOutput to) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Long.BYTES);
        bytes.asLongBuffer().put(numbers);
        to.writeInt(numbers.length);
        to.write(bytes.array());
    }

    /** Reads numbers that {@link #write(long[], DataOutput)} has written. */
    public static long[] longs(DataInput from) throws IOException {
        long[] numbers = new long[from.readInt()];
        byte[] bytes = new byte[numbers.length * Long.BYTES];
        from.readFully(bytes);
        ByteBuffer.wrap(bytes).asLongBuffer().get(numbers);
        return numbers;
    }
}
