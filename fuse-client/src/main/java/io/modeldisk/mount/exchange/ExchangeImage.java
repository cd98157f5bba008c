package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.striping.SessionsImage;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * An exchange without the bytes of its buffers, as another process continues it. Its size depends only on the model and on the
 * exchange scheme.
 *
 * @param learner the learner that has the model open
 * @param activeSet the number of the active set
 * @param sets the buffer sets by their numbers; none without local buffers
 */
public record ExchangeImage(Learner learner, int activeSet, List<Set> sets) {
    /**
     * The state of a {@link LearnerState}, whose fields have the same names.
     *
     * @param learning whether a learner has the model open
     * @param mapped whether the learner maps the buffers
     * @param iteration the number of the iteration
     * @param round the round of the gradient that the learner computes
     * @param unfinished whether a part of a gradient may have been pushed whose fsync has not succeeded
     * @param weightsMissed whether an interrupted fsync has pulled weights that the learner did not have
     * @param dropped what the drops since the last fsync have given up
     * @param rollback whether the next fsync must report that the gradient was discarded
     */
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

    /**
     * The state of a {@link BufferSet}, whose fields have the same names.
     *
     * @param weights whether the set has a buffer for weights
     * @param gradient whether the set has a buffer for a gradient
     * @param whole whether the learner replaces the whole gradient in each iteration
     * @param shown whether other processes have used the buffer of the gradient
     * @param state the state of the weights
     * @param version the version of the weights
     * @param outgoing the gradient
     */
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

    /**
     * The state of an {@link OutgoingGradient}, whose fields have the same names.
     *
     * @param unsynchronized whether the shards may not have aggregated all pushed blocks
     * @param begun whether a part of the gradient may have reached the shards
     * @param ended whether the exchange of the gradient has succeeded
     * @param givenUp whether the learner drops the gradient
     * @param absentBytes the number of bytes that are absent
     * @param fingerprint the fingerprint of the gradient; 0 if it is not remembered
     * @param dirty the blocks of the gradient, in words of 64 bits
     * @param pushed the blocks that the shards have accepted
     * @param marksAtBegin the blocks of the gradient when its push began
     */
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
