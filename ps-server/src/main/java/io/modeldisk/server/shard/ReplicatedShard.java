package io.modeldisk.server.shard;

import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RateRecords;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.replay.RecordPlayer;
import io.modeldisk.fault.replica.BackupMembers;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.fault.replica.BackupSource;
import io.modeldisk.fault.replica.BackupUnit;
import io.modeldisk.fault.replica.Backups;
import io.modeldisk.fault.replica.BlockImage;
import io.modeldisk.fault.replica.RecordFollower;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.consistency.Learner;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** The replication of a shard. The shard starts as a backup, and becomes the primary at most once. Thread-safe. */
public final class ReplicatedShard implements BackupSource, AutoCloseable {
    private final Shard shard;
    private final BackupSettings settings;
    private final NanoClock clock;
    private final Consumer<Throwable> lost;
    private final BlockStamps stamps;
    private final RecordPlayer<Learner> player;
    private final RecordFollower follower;
    private final LogicalUnit unit;
    /** Null as long as this process is a backup. */
    private volatile Backups backups;

    /**
     * Creates a backup.
     *
     * @param start the request number of the checkpoint from which the shard has started; 0 for the initial weights
     * @param lowestEpoch the lowest epoch of a primary whose records the backup accepts
     * @param lost the action if the thread that keeps the records of the primary fails because of an error in modeldisk
     */
    public ReplicatedShard(Shard shard, BackupSettings settings, long start, long lowestEpoch, NanoClock clock,
        Consumer<Throwable> lost) {
        this.shard = shard;
        this.settings = settings;
        this.clock = clock;
        this.lost = lost;
        this.stamps = new BlockStamps(shard.store().layout().blocks(), start);
        this.player = new RecordPlayer<>(shard.store(), shard.consistency(), shard.learners(),
            shard.learningRate(), 0);
        this.follower = new RecordFollower(this::apply, stamps, settings.bufferBytes(), lowestEpoch);
        this.unit = new BackupUnit(
            UnitIdentities.of(facts().model(), facts().shard(), ReplicateCommand.LUN, "modeldisk records"), facts(),
            follower);
    }

    private void apply(RecordHeader record) throws DamagedRecordException {
        if (record.kind() != RecordKind.IMAGE) {
            player.repeat(record);
            return;
        }
        if (record.block() == BlockImage.NO_BLOCK) {
            shard.continueHistory(record.version());
            return;
        }
        Block block = block(record.block());
        try (ScopedLock.Held _ = block.hold()) {
            BlockImage.apply(record, block);
        }
    }

    /** The time limit within which a backup must apply records. */
    public Duration timeout() {
        return settings.timeout();
    }

    /** The logical unit that accepts records. */
    public LogicalUnit unit() {
        return unit;
    }

    /** True if this process is the primary of the shard. */
    public boolean isPrimary() {
        return backups != null;
    }

    /** The object that applies the records which a backup receives. */
    public RecordFollower follower() {
        return follower;
    }

    /** The backups of this primary; null if this process is a backup. */
    public Backups backups() {
        return backups;
    }

    /** Makes this process the primary: accepts no more records, and from now on keeps a record of each change. */
    public RecordLog lead(long epoch, String own, BackupMembers members) throws IOException {
        if (isPrimary()) {
            throw new IllegalStateException("this process is the primary already");
        }
        long lastPosition = follower.promote(epoch);
        Backups ofEpoch = new Backups(this, settings, members, own, epoch, clock);
        long bytes = 2L * settings.bufferBytes();
        DataMemory memory = SharedMemory.isAvailable()
            ? DataMemory.allocateShareable(bytes)
            : DataMemory.allocate(bytes);
        RecordLog log = new RecordLog(List.of(ofEpoch.recordSink()), settings.bufferBytes(), memory, lastPosition + 1,
            epoch, stamps, clock, lost, facts().model() + "-" + facts().shard());
        ofEpoch.follow(log);
        backups = ofEpoch;
        return log;
    }

    @Override
    public ModelFacts facts() {
        return shard.facts();
    }

    @Override
    public Block block(int index) {
        return shard.store().block(index);
    }

    @Override
    public BlockStamps stamps() {
        return stamps;
    }

    @Override
    public void appendRoster(RecordLog log) {
        BlockImage.appendHistory(log, shard.history());
        MemberRecords.appendRoster(shard.learners(), log);
        RateRecords.append(log, shard.learningRate());
    }

    @Override
    public long appendBlock(RecordLog log, ShardBlock block) throws IOException {
        return shard.consistency().recordBlock(block, 0);
    }

    /** Stops connecting to backups. Called before the log is closed. */
    public void stop() {
        if (backups != null) {
            backups.close();
        }
    }

    /** Frees the memory. May be called only when no task is in progress. */
    @Override
    public void close() {
        follower.close();
    }
}
