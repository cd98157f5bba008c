package io.modeldisk.command.options;

import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options of a shard with backups. */
public final class ServeReplicas {
    /** The value of --durability with which these options have an effect. */
    static final String DURABILITY = "replica";

    @Option(names = "--replicas", paramLabel = "N", defaultValue = "2",
        description = "With --durability replica: the number of processes that keep this shard, including the primary. Further "
            + "processes wait until one of these ends.")
    private int replicas;

    @Option(names = "--replica-timeout", paramLabel = "TIME",
        description = "The time within which a backup must apply records. If a backup needs more time, pushes stop "
            + "waiting for it, and it must catch up before it can become the primary. Default: --coordinator-session.")
    private Duration timeout;

    /** Returns the settings of a primary. {@code secrets} are the secrets of the shard, or null if it has none. */
    public BackupSettings settings(Duration session, Path socketDirectory, ChapSecrets secrets) {
        Arguments.require(replicas >= 2, "--replicas=" + replicas
            + " must be at least 2: the primary and a backup; without backups, give another --durability");
        Duration limit = timeout == null ? session : timeout;
        Arguments.require(limit.isPositive(),
            "--replica-timeout=" + DurationText.format(limit) + " must be longer than 0s");
        Arguments.require(secrets == null || secrets.ofPrimary() != null,
            "the file of --secrets has no line 'replica NAME SECRET', with which the "
                + "primary of a shard logs in to its backups; add the same line for all processes of the shard");
        return new BackupSettings(limit, Route.Preference.AUTO, socketDirectory,
            secrets == null ? null : secrets.ofPrimary(),
            RecordLog.DEFAULT_BUFFER_BYTES);
    }

    /** The maximum number of backups. */
    public int backups() {
        return replicas - 1;
    }
}
