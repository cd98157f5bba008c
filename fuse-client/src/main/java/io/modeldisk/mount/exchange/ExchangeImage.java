package io.modeldisk.mount.exchange;

import io.modeldisk.striping.SessionsImage;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The state that another process needs to continue an exchange, without the bytes of the buffers. The size of an image depends
 * only on the model and on the exchange scheme.
 *
 * @param learner the learner that has the model open
 * @param activeSet the number of the active set
 * @param sets the buffer sets, in the order of their numbers; empty for a scheme without local buffers
 */
public record ExchangeImage(Learner learner, int activeSet, List<Set> sets) {
    /** The fields of a {@link LearnerState}. {@code rollback} is true if the next fsync must report a rollback. */
    record Learner(
        boolean learning, boolean mapped, long iteration, long round, boolean unfinished, boolean weightsMissed,
        Dropped dropped, boolean rollback) {
        private void write(DataOutput to) throws IOException {
            to.writeBoolean(learning);
            to.writeBoolean(mapped);
            to.writeLong(iteration);
            to.writeLong(round);
            to.writeBoolean(unfinished);
            to.writeBoolean(weightsMissed);
            to.writeLong(dropped.iteration());
            to.writeLong(dropped.acceptedBytes());
            to.writeLong(dropped.leftOutBytes());
            to.writeLong(dropped.discardedBytes());
            to.writeBoolean(rollback);
        }

        private static Learner read(DataInput from) throws IOException {
            return new Learner(from.readBoolean(), from.readBoolean(), from.readLong(), from.readLong(),
                from.readBoolean(), from.readBoolean(),
                new Dropped(from.readLong(), from.readLong(), from.readLong(), from.readLong()), from.readBoolean());
        }
    }

    /** The fields of a {@link BufferSet}. {@code weights} and {@code gradient} are true if the buffers exist. */
    record Set(
        boolean weights, boolean gradient, boolean whole, boolean shown, BufferSet.Weights state, long version,
        Gradient outgoing) {
        private void write(DataOutput to) throws IOException {
            to.writeBoolean(weights);
            to.writeBoolean(gradient);
            to.writeBoolean(whole);
            to.writeBoolean(shown);
            to.writeInt(state.ordinal());
            to.writeLong(version);
            outgoing.write(to);
        }

        private static Set read(DataInput from) throws IOException {
            return new Set(from.readBoolean(), from.readBoolean(), from.readBoolean(), from.readBoolean(),
                BufferSet.Weights.values()[from.readInt()], from.readLong(), Gradient.read(from));
        }
    }

    /** The fields of an {@link OutgoingGradient}. The marks of blocks are bits in words of 64 bits. */
    record Gradient(
        boolean unsynchronized, boolean begun, boolean ended, boolean givenUp, long absentBytes, long fingerprint,
        long[] dirty, long[] pushed, long[] marksAtBegin) {
        private void write(DataOutput to) throws IOException {
            to.writeBoolean(unsynchronized);
            to.writeBoolean(begun);
            to.writeBoolean(ended);
            to.writeBoolean(givenUp);
            to.writeLong(absentBytes);
            to.writeLong(fingerprint);
            SessionsImage.write(dirty, to);
            SessionsImage.write(pushed, to);
            SessionsImage.write(marksAtBegin, to);
        }

        private static Gradient read(DataInput from) throws IOException {
            return new Gradient(from.readBoolean(), from.readBoolean(), from.readBoolean(), from.readBoolean(),
                from.readLong(), from.readLong(), SessionsImage.longs(from), SessionsImage.longs(from),
                SessionsImage.longs(from));
        }
    }

    /** Writes the image: each record writes its components in their order. */
    public void write(DataOutput to) throws IOException {
        learner.write(to);
        to.writeInt(activeSet);
        to.writeInt(sets.size());
        for (Set each : sets) {
            each.write(to);
        }
    }

    /** Reads an image. */
    public static ExchangeImage read(DataInput from) throws IOException {
        Learner learner = Learner.read(from);
        int activeSet = from.readInt();
        List<Set> sets = new ArrayList<>();
        for (int left = from.readInt(); left > 0; left--) {
            sets.add(Set.read(from));
        }
        return new ExchangeImage(learner, activeSet, sets);
    }
}
