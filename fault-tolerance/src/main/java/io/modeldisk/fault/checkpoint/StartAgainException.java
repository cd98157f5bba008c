package io.modeldisk.fault.checkpoint;

import java.io.IOException;

/** Thrown if a shard must be closed and launched again, because another shard has started from another checkpoint. */
public final class StartAgainException extends IOException {
    private static final long serialVersionUID = 1;

    private final long checkpoint;

    StartAgainException(int shard, long checkpoint) {
        super("shard " + shard + " has started from "
            + (checkpoint == 0 ? "the initial weights" : "checkpoint " + checkpoint));
        this.checkpoint = checkpoint;
    }

    /**
     * The highest number of a checkpoint from which this shard may start the next time. Without this limit, two shards that can
     * load different checkpoints would start again for ever.
     */
    public long startAtMost() {
        // The initial weights set no limit: a shard that has not found any checkpoint must search again.
        return checkpoint == 0 ? CheckpointSettings.ANY : checkpoint;
    }
}
