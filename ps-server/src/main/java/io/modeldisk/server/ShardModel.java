package io.modeldisk.server;

import io.modeldisk.fault.checkpoint.CheckpointLoader;
import io.modeldisk.fault.checkpoint.CheckpointLog;
import io.modeldisk.fault.checkpoint.CheckpointStatus;
import io.modeldisk.fault.checkpoint.Checkpointer;
import io.modeldisk.fault.journal.JournalDirectory;
import io.modeldisk.fault.journal.JournalSink;
import io.modeldisk.fault.model.SafetensorsText;
import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RateRecords;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.record.RecordSink;
import io.modeldisk.fault.replay.RecordPlayer;
import io.modeldisk.fault.replica.BackupMembers;
import io.modeldisk.fault.replica.Backups;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.Learners;
import io.modeldisk.server.kept.RoundKeeper;
import io.modeldisk.server.shard.ReplicatedShard;
import io.modeldisk.server.shard.Shard;
import io.modeldisk.server.status.ShardStatus;
import io.modeldisk.server.unit.ModelTarget;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A shard of a model in memory, without a network. {@link ParameterServer} serves a shard over iSCSI; tests and other programs
 * can use the shard directly. Thread-safe. The code that opens a shard must call {@link #expire} periodically.
 */
public final class ShardModel extends Shard implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ShardModel.class);
    /** The time for which a stopping shard waits for a checkpoint directory that does not respond, such as on a hanging disk. */
    private static final Duration HANG = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofSeconds(1);

    private final ServerContext context;
    private final NanoClock clock;
    /** The checkpoint from which the shard has started. */
    private final CheckpointStatus restored;
    private final ShardStatus status;
    private final Target target;
    /** True if some blocks may still wait for a learner that was removed. Used only by the thread that calls {@link #expire}. */
    private boolean unsettled;

    private ShardModel(
        ServerContext context, ModelFacts facts, BlockStore store, Learners learners, Consistency consistency,
        CheckpointStatus restored, MemoryBudget budget) throws IOException {
        super(facts, SafetensorsText.of(context.source.tensors(), context.source.metadata()), context.aggregator, store,
            learners, consistency, new RoundKeeper(store, consistency::rounds, context.mode.appliesWholeRounds(),
                context.keptBytes(), context.clock),
            context.lease);
        this.context = context;
        this.clock = context.clock;
        this.restored = restored;
        if (context.backups != null) {
            useReplication(new ReplicatedShard(this, context.backups, restored.id(), context.lowestEpoch, clock,
                context.lost));
        }
        this.status = new ShardStatus(this, budget.bytes(facts.learners()), clock);
        this.target = new ModelTarget(this, context.nonFinite, context.portGroups);
    }

    /**
     * Allocates the memory of a shard and reads its weights.
     *
     * @param context the configuration; this method calls {@link ServerContext#conclude}, and the shard closes the aggregator
     * @throws IllegalArgumentException if a setting is wrong; the message names the setting, its value and a remedy
     * @throws IOException if the weights cannot be read
     */
    public static ShardModel open(ServerContext context) throws IOException {
        context.conclude();
        MemoryBudget budget = MemoryBudget.of(context);
        long maxHeapBytes = Runtime.getRuntime().maxMemory();
        budget.check(context.facts().learners(), maxHeapBytes, MemoryLimit.ofThisProcess());
        ModelFacts facts = context.facts().in(
            context.checkpoints == null ? ModelFacts.NO_STATE : context.checkpoints.identity());
        BlockLayout layout = new BlockLayout(facts.bytesOfShard(), facts.blockSizeBytes());
        // The journal is opened before the checkpoint is loaded: a previous process of this shard may still append to the journal
        // and take checkpoints, until this process holds the lock of the journal.
        JournalDirectory journal = context.journal == null
            ? null
            : JournalDirectory.open(context.journal, facts, context.clock);
        BlockStore store = null;
        ShardModel shard = null;
        try {
            store = new BlockStore(layout, context.spareBlocks, context.aggregator.stateBytesPerLogicalBlock());
            if (context.device != null) {
                store.useDevice(context.device, context.aggregator, context.mode.appliesWholeRounds(),
                    hostPushes(context), context.clock, facts.model() + "-" + facts.shard(), context.lost::accept);
                LOG.info("the device {} keeps the weights, in {} of its memory", store.device(),
                    ByteSize.format(store.device().deviceBytes()));
            }
            CheckpointStatus restored = context.checkpoints == null
                ? CheckpointStatus.NONE
                : CheckpointLoader.load(context.checkpoints, facts, context.source, store, context.aggregator);
            if (restored.number() == 0) {
                InitialWeights.load(context, store);
            }
            Learners learners = new Learners(facts.learners(), facts.minLearners(), context.lease,
                budget.learnersIn(maxHeapBytes), layout, context.clock);
            if (restored.number() > 0) {
                // This call must precede the creation of the consistency mode, which opens the first round of each block.
                learners.resumeAfter(restored.round());
            }
            shard = new ShardModel(context, facts, store, learners,
                Consistency.of(context.mode, store, context.aggregator, learners), restored, budget);
            shard.keepRecords(journal);
            if (shard.replication() == null) {
                shard.takeCheckpoints(restored, 0);
            }
            if (shard.startRound() > 0) {
                shard.checkpointer().continueLearners();
            }
            return shard;
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            if (shard != null) {
                shard.close();
            } else if (store != null) {
                store.close();
            }
            if (journal != null) {
                journal.close();
            }
            throw e;
        }
    }

    /** Returns the reason why gradients must arrive in host memory; null if they may arrive in device memory. */
    private static String hostPushes(ServerContext context) {
        if (context.journal != null || context.backups != null) {
            return "the host needs the gradients for its journal or its backups";
        }
        return context.network.mayReachDevices() ? null : "it needs --datamover iser";
    }

    /** Replays the journal, if the shard has one, and from now on writes each change to the journal. */
    private void keepRecords(JournalDirectory directory) throws IOException {
        if (context.journal != null) {
            JournalSink journal = JournalSink.open(directory, context.journal, facts(), restored.id(),
                checkpoint -> new RecordPlayer<>(store(), consistency(), learners(), learningRate(), checkpoint),
                clock);
            useJournal(journal);
            record(List.of(journal), journal.openedAt() + 1, RecordLog.DEFAULT_BUFFER_BYTES);
        } else if (context.checkpoints != null) {
            JournalSink.refuseLeft(context.checkpoints.state());
        }
    }

    /**
     * Takes checkpoints from now on, if the shard has a directory for them.
     *
     * @param history the number of the history that the shard continues without a loss; 0 if it has started from {@code newest}
     */
    private void takeCheckpoints(CheckpointStatus newest, long history) throws IOException {
        if (context.checkpoints == null) {
            return;
        }
        CheckpointLog log = journal() == null
            ? null
            : new CheckpointLog(records(), journal(), learners(), learningRate(), clock);
        useCheckpoints(new Checkpointer(context.checkpoints, facts(), context.source, store(),
            context.aggregator, learners(), consistency(), clock, newest, history, log,
            traffic().rawWrites::sum, context.goBack, context.mayServe));
    }

    /**
     * Keeps a record of each change from now on, in sinks that the shard closes. Must be called before the shard is served. The
     * records need two buffers of {@code bufferBytes} each.
     */
    void record(List<RecordSink> sinks, long firstPosition, int bufferBytes) {
        RecordLog records = new RecordLog(sinks, bufferBytes, DataMemory.allocate(2L * bufferBytes), firstPosition, 0,
            null, clock, context.lost, facts().model() + "-" + facts().shard());
        useRecords(records);
        MemberRecords.record(learners(), records);
        consistency().record(records);
        MemberRecords.appendRoster(learners(), records);
        RateRecords.append(records, learningRate());
    }

    /** The iSCSI target of the shard. */
    public Target target() {
        return target;
    }

    @Override
    public boolean mayServe() {
        return isBackup() || context.mayServe.getAsBoolean();
    }

    @Override
    public boolean handOver() {
        return context.handOver.getAsBoolean();
    }

    @Override
    public byte[] status() {
        return status.toJson();
    }

    /** Removes the learners whose leases have expired. The rounds continue without these learners. */
    public void expire() {
        if (isBackup()) {
            // The primary decides which learners have left.
            return;
        }
        List<Learner> expired = learners().expire();
        for (Learner learner : expired) {
            LOG.warn("the lease of learner '{}' expired after {} ms; the rounds continue without this learner",
                learner.label(), context.lease.toMillis());
        }
        if (learners().takeReplaced() || !expired.isEmpty() || unsettled) {
            // If an aggregator fails, the flag stays set, so the next call tries all blocks again.
            unsettled = true;
            learnersChanged();
            unsettled = false;
        }
    }

    /**
     * Makes this backup the primary of the shard. Learners may connect again from now on. The caller serves the shard afterwards.
     *
     * @param epoch the epoch of this process as the primary
     * @param own the name of this process
     * @param members the backups that may become the primary
     * @return the backups of this primary; the caller adds the other processes of the shard to them
     * @throws IOException if there is no memory for the records
     */
    public Backups lead(long epoch, String own, BackupMembers members) throws IOException {
        RecordLog log = replication().lead(epoch, own, members);
        learners().restartLeases();
        MemberRecords.record(learners(), log);
        consistency().record(log);
        useRecords(log);
        return replication().backups();
    }

    /**
     * Takes checkpoints from now on, if the shard has a directory for them. Called by a primary that started from a checkpoint or
     * from the initial weights. If that checkpoint was the last one before an orderly stop, its history continues.
     */
    public void beginCheckpoints() throws IOException {
        takeCheckpoints(restored, 0);
        if (checkpointer() != null) {
            continueHistory(checkpointer().history());
        }
    }

    /**
     * Continues the checkpoints of the former primary, if the shard has a directory for them. Called by a primary that has all
     * updates of the former primary.
     */
    public void continueCheckpoints() throws IOException {
        takeCheckpoints(CheckpointLoader.newest(context.checkpoints), history());
    }

    /** Waits until the other shards of the model have started, if all shards must start with the weights of the same round. */
    void awaitOtherShards() throws IOException {
        try {
            if (checkpointer() != null) {
                checkpointer().awaitOtherShards();
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for the other shards");
        }
    }

    /** Returns whether the other shards have started; always true if shards need not start with the weights of the same round. */
    public boolean otherShardsHaveStarted() throws IOException {
        return checkpointer() == null || checkpointer().otherShardsHaveStarted();
    }

    /** Starts the thread that takes checkpoints. Does nothing if the shard takes none. */
    public void startCheckpoints() {
        if (checkpointer() != null) {
            checkpointer().start();
        }
    }

    /** Takes a last checkpoint, if the shard takes any. Runs {@code disconnect} at most twice, to disconnect all learners. */
    void saveLast(Runnable disconnect) {
        if (checkpointer() == null || !mayServe()) {
            return;
        }
        // Thread.interrupt would close the file, so a separate thread, which is never interrupted, writes the checkpoint.
        CompletableFuture<Void> save = new CompletableFuture<>();
        ThreadName.LAST_CHECKPOINT.builder(facts().model(), facts().shard()).start(() -> {
            try {
                checkpointer().saveLast(disconnect);
            } catch (InterruptedException | RuntimeException e) {
                LOG.error("the shard stops without a last checkpoint because of an error in modeldisk", e);
            } finally {
                save.complete(null);
            }
        });
        long begunNs = clock.nanoTime();
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                ended = FutureWait.isDoneWithin(save, POLL, clock);
                if (!ended && clock.nanoTime() - Math.max(begunNs, checkpointer().lastAdvanceNs()) >= HANG.toNanos()) {
                    LOG.error("the shard stops without a last checkpoint: {} has not answered for {} s",
                        context.checkpoints.state(), HANG.toSeconds());
                    ended = true;
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Frees the memory. May be called only when no task is in progress. */
    @Override
    public void close() {
        if (checkpointer() != null) {
            checkpointer().close();
        }
        if (replication() != null) {
            replication().stop();
        }
        if (records() != null) {
            records().close();
        }
        if (replication() != null) {
            replication().close();
        }
        consistency().close();
        keeper().close();
        store().close();
        context.aggregator.close();
    }
}
