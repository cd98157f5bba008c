package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.server.block.DeviceTarget;
import io.modeldisk.server.checkpoint.CheckpointSettings;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.journal.JournalSettings;
import io.modeldisk.server.model.ModelSource;
import io.modeldisk.server.record.RecordSink;
import io.modeldisk.server.replica.BackupSettings;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** The settings of a shard after validation. All values are valid. {@code checkpoints}, {@code journal}, {@code backups} and
 * {@code device} are null if the shard has none. */
record ServerSettings(
    ModelFacts facts,
    ModelSource source,
    Aggregator aggregator,
    ConsistencyMode consistency,
    NonFinite nonFinite,
    Duration lease,
    int spareBlocks,
    long keptBytes,
    CheckpointSettings checkpoints,
    JournalSettings journal,
    List<RecordSink> records,
    BackupSettings backups,
    long lowestEpoch,
    DeviceTarget device,
    Consumer<Throwable> lost,
    Runnable goBack,
    BooleanSupplier handOver,
    TargetPortGroups portGroups,
    BooleanSupplier mayServe,
    NanoClock clock) {}
