package io.modeldisk.fault.checkpoint;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The settings of checkpoints.
 *
 * @param state the directory of the checkpoints, which all shards of the model share
 * @param period the period of the checkpoints
 * @param keep the number of checkpoints that stay in the directory, at least 1
 * @param startAtMost the highest number of a checkpoint from which the shard may start, at least 1
 * @param maxFileBytes the maximum size of the data of a safetensors file with several tensors; all shards need the same size, and
 *     a checkpoint that was written with another size cannot be loaded
 */
public record CheckpointSettings(Path state, CheckpointPeriod period, int keep, long startAtMost, long maxFileBytes) {
    /** The version of the format of checkpoints that this program writes. It also reads all earlier versions. */
    public static final int FORMAT = 1;

    /** The value of {@link #startAtMost} that permits a start from any checkpoint. */
    public static final long ANY = Long.MAX_VALUE;

    /** The maximum number of copied blocks that wait to be written to disk. At this number, pushes wait for the disk. */
    public static final int COPIES = 16;

    private static final long MAX_FILE_BYTES = 4L << 30;

    /** Creates settings with which the shard may start from any checkpoint, and with files of at most 4 GiB. */
    public CheckpointSettings(Path state, CheckpointPeriod period, int keep) {
        this(state, period, keep, ANY, MAX_FILE_BYTES);
    }

    /** Returns the same settings with another limit for the number of the checkpoint from which the shard starts. */
    public CheckpointSettings startingAtMost(long number) {
        return new CheckpointSettings(state, period, keep, number, maxFileBytes);
    }

    /**
     * Returns the text that identifies the directory. The first shard that uses the directory chooses this text at random.
     *
     * @throws IOException if the directory cannot be used
     */
    public String identity() throws IOException {
        return StateDirectory.open(state).identity();
    }

    @Override
    public String toString() {
        return "state=" + state + " period=" + period + " keep=" + keep
            + (startAtMost == ANY ? "" : " startAtMost=" + startAtMost);
    }
}
