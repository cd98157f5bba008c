package io.modeldisk.striping;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The state of a learner, with which another process continues as the same learner. Its size depends only on the model.
 *
 * @param joined whether the learner has joined; if not, the other values have no meaning
 * @param skipsRounds whether the shards still wait for rounds that the learner has skipped
 * @param ledger what the learner has pushed
 * @param memberships the memberships of the shards
 */
public record SessionsImage(boolean joined, boolean skipsRounds, Ledger ledger, List<Membership> memberships) {
    /** The image of a learner that keeps no state in its process. */
    public static final SessionsImage NONE = new SessionsImage(false, false,
        new Ledger(new long[0], new long[0], new long[0], new long[0], new long[0], new long[0], new long[0], false, 0),
        List.of());

    /** The values of the fields of a {@link PushLedger} that have the same names. Sets of bits are stored in words of 64 bits. */
    record Ledger(
        long[] round, long[] clock, long[] begun, long[] taken, long[] repeatable, long[] firstRound, long[] doubtful,
        boolean untold, long roundsBack) {}

    /** The values of the fields of a {@link ShardMembership} that have the same names. */
    record Membership(long isid, long membership, long history, long startRound) {}

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

    /** Writes numbers in the form that {@link #longs} reads. */
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
