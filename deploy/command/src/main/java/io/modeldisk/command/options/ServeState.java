package io.modeldisk.command.options;

import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.journal.JournalSettings;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.units.ByteSize;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options that determine which data survives the end of a shard. */
public final class ServeState {
    private static final String CHECKPOINT = "checkpoint";
    private static final String JOURNAL = "journal";
    private static final long MIN_LIMIT_BYTES = 1 << 20;
    private static final Duration FORMER_PRIMARY_WAIT = Duration.ofSeconds(60);

    @Option(names = "--state", paramLabel = "DIR",
        description = "The directory of the checkpoints and of the journals. All shards of the model need the same directory. A "
            + "shard that starts continues from the newest checkpoint in it.")
    private Path state;

    @Option(names = "--durability", paramLabel = "MODE",
        description = "What survives the end of a shard. memory: nothing (the default without --state). checkpoint: the newest "
            + "checkpoint (the default with --state). journal: every acknowledged push, because a push is acknowledged after it "
            + "is on disk. replica: every acknowledged push, as long as one process in sync is left (see --replicas and "
            + "--coordinator); with --state, also the newest checkpoint.")
    private String durability;

    @Option(names = "--checkpoint-every", paramLabel = "PERIOD", defaultValue = "60s",
        description = "The time (such as 60s) or the number of rounds (such as 1000rounds) from one checkpoint to the next.")
    private String period;

    @Option(names = "--keep", paramLabel = "N", defaultValue = "3",
        description = "The number of checkpoints that stay in --state. Older ones are deleted.")
    private int keep;

    @Option(names = "--journal-limit", paramLabel = "BYTES",
        description = "With --durability journal: the size of the journal of this shard at which the shards take a checkpoint "
            + "early, because a checkpoint cuts the journal. At twice this size, the shard refuses pushes until a checkpoint "
            + "has succeeded. Default: 4 times the size of the shard, at least 1 GiB.")
    private ByteSize journalLimit;

    private String mode() {
        return durability != null ? durability : state == null ? "memory" : CHECKPOINT;
    }

    /**
     * Returns the settings of the journal; null if the shard has none.
     *
     * @param coordinated true if a coordinator decides which process serves the shard
     */
    public JournalSettings journal(boolean coordinated) {
        boolean journal = mode().equals(JOURNAL);
        Arguments.require(journal || journalLimit == null, "--journal-limit needs --durability journal");
        Arguments.require(journalLimit == null || journalLimit.bytes() >= MIN_LIMIT_BYTES,
            "--journal-limit=" + journalLimit + " must be at least 1MiB");
        return journal
            ? new JournalSettings(state, journalLimit == null ? 0 : journalLimit.bytes(),
                coordinated ? FORMER_PRIMARY_WAIT : Duration.ZERO)
            : null;
    }

    /** Returns whether the shard has backups. */
    public boolean hasBackups() {
        return ServeReplicas.DURABILITY.equals(durability);
    }

    /**
     * Returns the settings of the checkpoints; null if the shard takes none.
     *
     * @param startAtMost the highest number of a checkpoint from which the shard is allowed to start
     */
    public CheckpointSettings checkpoints(long startAtMost) {
        String mode = mode();
        switch (mode) {
            case "memory" -> {
                Arguments.require(state == null, "--durability memory keeps no state; remove --state or --durability");
                return null;
            }
            case CHECKPOINT, JOURNAL, ServeReplicas.DURABILITY -> {
                if (state == null && hasBackups()) {
                    return null;
                }
                Arguments.require(state != null, "--durability " + mode + " needs a directory; give it with --state");
                Arguments.require(keep >= 1, "--keep=" + keep + " must be at least 1");
                return new CheckpointSettings(state, CheckpointPeriod.parse(period), keep).startingAtMost(startAtMost);
            }
            default -> throw new IllegalArgumentException(
                "--durability '" + mode + "' must be memory, checkpoint, journal or replica");
        }
    }
}
