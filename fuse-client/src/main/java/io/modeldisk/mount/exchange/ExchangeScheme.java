package io.modeldisk.mount.exchange;

import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;

/** The exchange schemes. */
public enum ExchangeScheme {
    /** The scheme without local buffers: each read pulls and each write pushes. */
    DIRECT(0),
    /** The scheme with one set of local buffers: an fsync pushes the gradient, pulls the weights and returns. */
    SYNC(1),
    /**
     * The scheme with two sets of local buffers. An fsync swaps the sets and returns. One set is exchanged while the learner
     * computes on the other set.
     */
    OVERLAP(2);

    private final int sets;

    ExchangeScheme(int sets) {
        this.sets = sets;
    }

    @Override
    public String toString() {
        return EnumNames.of(this);
    }

    /** Returns the size of a learner's buffers for a model of this size. */
    public long bufferBytes(long modelBytes) {
        return 2L * sets * LogicalBlock.up(modelBytes);
    }

    /** Creates an exchange of this scheme for this model. */
    public Exchange create(RemoteModel model, ExchangeSettings settings) {
        return sets == 0 ? new DirectExchange(model, settings) : new BufferedExchange(sets == 2, model, settings);
    }
}
