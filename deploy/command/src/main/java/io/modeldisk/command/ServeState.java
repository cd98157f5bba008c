package io.modeldisk.command;

import io.modeldisk.server.checkpoint.CheckpointPeriod;
import io.modeldisk.server.checkpoint.CheckpointSettings;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options for what survives the end of a shard. */
final class ServeState {
    private static final String CHECKPOINT = "checkpoint";

    @Option(names = "--state", paramLabel = "DIR",
        description = "The directory of the checkpoints. All shards of the model need the same directory. A shard that "
            + "starts goes on from the newest checkpoint in it.")
    private Path state;

    @Option(names = "--durability", paramLabel = "MODE",
        description = "What survives the end of a shard. memory: nothing (the default without --state). checkpoint: the newest "
            + "checkpoint (the default with --state).")
    private String durability;

    @Option(names = "--checkpoint-every", paramLabel = "PERIOD", defaultValue = "60s",
        description = "The time (such as 60s) or the number of rounds (such as 1000rounds) from one checkpoint to the next.")
    private String period;

    @Option(names = "--keep", paramLabel = "N", defaultValue = "3",
        description = "The number of checkpoints that stay in --state. Older ones are deleted.")
    private int keep;

    /**
     * Returns the settings of the checkpoints; null if the shard takes none.
     *
     * @param startAtMost the highest number of a checkpoint from which the shard may start
     */
    CheckpointSettings settings(long startAtMost) {
        String mode = durability != null ? durability : state == null ? "memory" : CHECKPOINT;
        switch (mode) {
            case "memory" -> {
                check(state == null, "--durability memory keeps no state; remove --state or --durability");
                return null;
            }
            case CHECKPOINT -> {
                check(state != null, "--durability checkpoint needs a directory; give it with --state");
                check(keep >= 1, "--keep=" + keep + " must be at least 1");
                return new CheckpointSettings(state, CheckpointPeriod.parse(period), keep).startingAtMost(startAtMost);
            }
            default -> throw new IllegalArgumentException(
                "--durability '" + mode + "' must be memory or checkpoint");
        }
    }

    private static void check(boolean sound, String message) {
        if (!sound) {
            throw new IllegalArgumentException(message);
        }
    }
}
