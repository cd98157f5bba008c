package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.checkpoint.CheckpointLog;
import io.modeldisk.fault.checkpoint.CheckpointStatus;
import io.modeldisk.fault.checkpoint.Checkpointer;
import io.modeldisk.fault.journal.JournalDirectory;
import io.modeldisk.fault.journal.JournalReader;
import io.modeldisk.fault.journal.JournalSink;
import io.modeldisk.fault.membership.Roster;
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
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.BlockVersions;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.Learners;
import io.modeldisk.server.kept.RoundKeeper;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A shard of a model in memory, without a network. {@link ParameterServer} serves a shard over iSCSI; tests and other programs
 * may use the shard directly. Thread-safe. The owner of a shard must call {@link #expire} periodically.
 */
public final class ShardModel implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ShardModel.class);
    /** The time for which a shard that stops waits for a directory that does not answer, such as one on a disk that hangs. */
    private static final Duration HANG = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofSeconds(1);

    private final ServerContext context;
    private final ModelFacts facts;
    private final byte[] tensorsText;
    private final Aggregator aggregator;
    private final BlockStore store;
    private final Learners learners;
    private final Consistency consistency;
    private final RoundKeeper keeper;
    private final Traffic traffic = new Traffic();
    private final Set<Nexus> followers = ConcurrentHashMap.newKeySet();
    /** The checkpoint from which the shard has started. */
    private final CheckpointStatus restored;
    /** Null if the shard takes no checkpoints. Set before the shard is served. */
    private volatile Checkpointer checkpointer;
    /** The number of the history, if the shard has no checkpoints or has backups. */
    private volatile long ownHistory = ThreadLocalRandom.current().nextLong() | 1;
    private final ShardStatus status;
    private final Target target;
    private final NanoClock clock;
    /** Null if the shard keeps no records. Set before the shard is served. */
    private volatile RecordLog records;
    /** Null if the shard has no journal. Set before the shard is served. */
    private JournalSink journal;
    /** Null if only this process may serve the shard. */
    private final ReplicatedShard replication;
    /** Whether some blocks may still wait for a learner that was removed. Used only by the thread that calls {@link #expire}. */
    private boolean unsettled;
    // Guarded by the lock of this object.
    private boolean stopped;

    private ShardModel(
        ServerContext context, ModelFacts facts, int maxLearners, BlockStore store, CheckpointStatus restored)
        throws IOException {
        this.context = context;
        this.restored = restored;
        this.facts = facts;
        this.tensorsText = SafetensorsText.of(context.source.tensors(), context.source.metadata());
        this.clock = context.clock;
        this.aggregator = context.aggregator;
        this.store = store;
        this.learners = new Learners(facts.learners(), facts.minLearners(), context.lease, maxLearners,
            store.layout(), context.clock);
        if (restored.number() > 0) {
            learners.resumeAfter(restored.round());
        }
        this.consistency = Consistency.of(context.mode, store, aggregator, learners);
        this.keeper = new RoundKeeper(store, consistency::rounds, context.mode.appliesWholeRounds(),
            context.keptBytes(), context.clock);
        this.replication = context.backups == null
            ? null
            : new ReplicatedShard(this, context.backups, restored.id(), context.lowestEpoch, context.clock,
                context.lost);
        this.status = new ShardStatus(this, context.clock);
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
        // Before the checkpoint is loaded, because a former primary may still write to the journal behind it.
        JournalDirectory journal = context.journal == null
            ? null
            : JournalDirectory.open(context.journal, facts, context.clock);
        BlockStore store = null;
        ShardModel shard = null;
        try {
            store = new BlockStore(layout, context.spareBlocks, context.aggregator.stateBytesPerLogicalBlock());
            if (context.device != null) {
                store.useDevice(context.device, context.aggregator, context.mode.appliesWholeRounds(),
                    hostPushes(context), context.clock, facts.model() + "-" + facts.shard(),
                    context.lost::accept);
                LOG.info("the device {} keeps the weights, in {} of its memory", store.device(),
                    ByteSize.format(store.device().deviceBytes()));
            }
            CheckpointStatus restored = context.checkpoints == null
                ? CheckpointStatus.NONE
                : Checkpointer.load(context.checkpoints, facts, context.source, store, context.aggregator);
            if (restored.number() == 0) {
                InitialWeights.load(context, store);
            }
            shard = new ShardModel(context, facts, budget.learnersIn(maxHeapBytes), store, restored);
            shard.keepRecords(journal);
            if (shard.replication == null) {
                shard.takeCheckpoints(restored, 0);
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

    /** Returns the reason why gradients must arrive in host memory; null if they may arrive in that of a device. */
    private static String hostPushes(ServerContext context) {
        if (context.journal != null || context.backups != null) {
            return "the host needs the gradients for its journal or its backups";
        }
        return context.network.mayReachDevices() ? null : "it needs --datamover iser";
    }

    /** Replays the journal, if the shard has one, and writes each change to it from now on. */
    private void keepRecords(JournalDirectory directory) throws IOException {
        if (context.journal != null) {
            journal = JournalSink.open(directory, context.journal, facts, restored.id(),
                checkpoint -> JournalReader.RecordConsumer
                    .of(new RecordPlayer<>(store, consistency, learners, learningRate(), checkpoint)),
                clock);
            record(List.of(journal), journal.openedAt() + 1, RecordLog.DEFAULT_BUFFER_BYTES);
        } else if (context.checkpoints != null) {
            JournalSink.refuseLeft(context.checkpoints.state());
        }
    }

    /**
     * Takes checkpoints from now on, if the shard has a directory for them.
     *
     * @param newest the newest checkpoint
     * @param history the number of the history that the shard continues without a loss; 0 if it has started from the checkpoint
     */
    private void takeCheckpoints(CheckpointStatus newest, long history) throws IOException {
        if (context.checkpoints == null) {
            return;
        }
        CheckpointLog log = journal == null
            ? null
            : new CheckpointLog(records, journal, learners, consistency, learningRate(), clock);
        checkpointer = new Checkpointer(context.checkpoints, facts, context.source, store,
            aggregator, learners, consistency, clock, newest, history, log,
            traffic.rawWrites::sum, context.goBack, context.mayServe);
    }

    /**
     * Keeps a record of each change from now on. Must be called before the shard is served.
     *
     * @param sinks the sinks, which the shard closes
     * @param firstPosition the position of the first record
     * @param bufferBytes the size of each of the two buffers for records
     */
    void record(List<RecordSink> sinks, long firstPosition, int bufferBytes) {
        records = new RecordLog(sinks, bufferBytes, firstPosition, clock, context.lost,
            facts.model() + "-" + facts.shard());
        MemberRecords.record(learners, records);
        consistency.record(records);
        MemberRecords.appendRoster(learners, records);
        RateRecords.append(records, learningRate());
    }

    /** Returns whether this shard may have connections at this moment. A backup may: it serves only the primary. */
    boolean mayServe() {
        return isBackup() || context.mayServe.getAsBoolean();
    }

    /** The name of the device that applies gradients, such as {@code cuda:0 (NVIDIA H100 PCIe)}; null if the CPU does. */
    public String device() {
        return store.device() == null ? null : store.device().toString();
    }

    /** Where gradients arrive, such as {@code device memory by dma-buf}; null if the CPU applies gradients. */
    public String pushPlace() {
        return store.device() == null ? null : store.devicePushes().toString();
    }

    /** The facts of the model and of this shard that never change, such as sizes and names. */
    public ModelFacts facts() {
        return facts;
    }

    /** The iSCSI target of the shard. */
    public Target target() {
        return target;
    }

    /** Returns the current status as JSON of at most 65,000 bytes. */
    public byte[] status() {
        return status.toJson();
    }

    /** Returns the progress of the shard. Does not lock any block. */
    public ShardCounters counters() {
        Roster<Learner> roster = learners.roster();
        BlockVersions.Span versions = store.versions().span();
        return new ShardCounters(versions.min(), versions.max(), learners.lastOpenedRound(), roster.members().size(),
            roster.formed(), roster.tooFew(), history());
    }

    /** Returns the reason why the shard refuses pushes at the moment, in one line; null if it accepts them. Locks no block. */
    public String refusal() {
        if (isBackup()) {
            return "this process is a backup; another process serves the shard";
        }
        if (!mayServe()) {
            return "the coordinator does not answer, so that another process may serve the shard";
        }
        RecordLog log = records;
        String failure = log == null ? null : log.status().failure();
        Roster<Learner> roster = learners.roster();
        return failure == null && roster.tooFew() ? stopReason(roster) : failure;
    }

    /** Removes the learners whose leases have expired. The rounds continue without these learners. */
    public void expire() {
        if (isBackup()) {
            // The primary decides which learners have left.
            return;
        }
        List<Learner> expired = learners.expire();
        for (Learner learner : expired) {
            LOG.warn("the lease of learner '{}' expired after {} ms; the rounds continue without this learner",
                learner.label(), context.lease.toMillis());
        }
        if (learners.takeReplaced() || !expired.isEmpty() || unsettled) {
            // If an aggregator fails, the flag stays set, so that the next call tries all blocks again.
            unsettled = true;
            learnersChanged();
            unsettled = false;
        }
    }

    /** Keeps a record of the users of all learners, after a learner whose user was unknown has got one. */
    void learnerClaimed(Nexus nexus) {
        LOG.info("learner '{}' belongs to user {} from now on", nexus.learner(), nexus.user());
        RecordLog log = records;
        if (log != null) {
            MemberRecords.appendRoster(learners, log);
        }
    }

    /** Checks the waiting tasks again after learners have joined, have left, or have postponed their first round. */
    void learnersChanged() {
        logStop();
        consistency.learnersLeft();
    }

    private synchronized void logStop() {
        Roster<Learner> roster = learners.roster();
        if (roster.tooFew() == stopped) {
            return;
        }
        stopped = !stopped;
        if (stopped) {
            LOG.error("{}", stopReason(roster));
        } else {
            LOG.warn("the job continues; the number of learners is {}", roster.members().size());
        }
    }

    /** Returns the reason why the job has stopped. */
    String stopReason(Roster<Learner> roster) {
        int left = roster.members().size();
        return "the job has stopped: " + left + (left == 1 ? " learner is" : " learners are")
            + " left, but --min-learners is " + learners.minLearners()
            + "; the job continues when enough learners have joined";
    }

    /** The time for which the rounds wait for a learner that is silent or has lost its connection. */
    Duration lease() {
        return context.lease;
    }

    BlockStore store() {
        return store;
    }

    /** The learning rate of the aggregator; null if it has none. */
    LearningRate learningRate() {
        return aggregator.learningRate();
    }

    /**
     * Changes the learning rate. No update of a block is in progress during the change, so that each update has the same rate
     * again when its record is replayed.
     *
     * @throws ScsiException if the shard cannot keep a record of the change, which may have an effect nevertheless
     */
    void changeLearningRate(LearningRate.Change change) throws ScsiException {
        RecordLog log = records;
        if (log != null) {
            log.requireKept();
        }
        store.lockAll();
        try {
            store.awaitDevice();
            learningRate().change(change);
            if (log != null) {
                RateRecords.append(log, learningRate());
            }
        } finally {
            store.unlockAll();
        }
        LOG.info("the learning rate is {} from round {} on", change.rate(), change.fromRound());
        if (log != null) {
            log.awaitLearnersDurable();
        }
    }

    Learners learners() {
        return learners;
    }

    Consistency consistency() {
        return consistency;
    }

    /** The weights of the round that initiators read now. */
    RoundKeeper keeper() {
        return keeper;
    }

    /** The names and shapes of the model's tensors, as JSON in the form of the header of a safetensors file. */
    byte[] tensorsText() {
        return tensorsText;
    }

    /** The journal of the shard; null if the shard has none. */
    JournalSink journal() {
        return journal;
    }

    /**
     * Makes this process, which was a backup, the primary of the shard. Learners may connect again from now on. The caller serves
     * the shard afterwards.
     *
     * @param epoch the epoch of this process as the primary
     * @param own the name of this process
     * @param members the backups that may become the primary
     * @return the backups, to which the caller adds the processes that are backups
     * @throws IOException if there is no memory for the records
     */
    public Backups lead(long epoch, String own, BackupMembers members) throws IOException {
        RecordLog log = replication.lead(epoch, own, members);
        learners.restartLeases();
        MemberRecords.record(learners, log);
        consistency.record(log);
        records = log;
        return replication.backups();
    }

    /**
     * Takes checkpoints from now on, if the shard takes any, because this process has started the shard. If it continues the last
     * checkpoint of a shard that stopped in order, it continues its history too.
     */
    void beginCheckpoints() throws IOException {
        takeCheckpoints(restored, 0);
        ownHistory = checkpointer == null ? ownHistory : checkpointer.history();
    }

    /** Goes on with the checkpoints of the former primary, all of whose updates this shard has, if the shard takes any. */
    void continueCheckpoints() throws IOException {
        takeCheckpoints(Checkpointer.newest(context.checkpoints), ownHistory);
    }

    /** Continues the history of the primary whose records this backup gets. */
    void continueHistory(long ofPrimary) {
        ownHistory = ofPrimary;
    }

    /** Makes a backup the primary soon. Returns false if no backup is in sync. */
    boolean handOver() {
        return context.handOver.getAsBoolean();
    }

    /** The part of the shard for several processes that may serve it; null if only this process may. */
    ReplicatedShard replication() {
        return replication;
    }

    /** Whether another process is or may become the primary of the shard, and this process is not the primary. */
    public boolean isBackup() {
        return replication != null && !replication.isPrimary();
    }

    /** The records of the shard; null if the shard keeps none. */
    RecordLog records() {
        return records;
    }

    Traffic traffic() {
        return traffic;
    }

    /** The connected mounts that follow the model without being learners. Thread-safe. */
    Set<Nexus> followers() {
        return followers;
    }

    /** Waits until the other shards of the model have started, if this shard must have the weights of the same round. */
    void awaitOtherShards() throws IOException {
        try {
            if (checkpointer != null) {
                checkpointer.awaitOtherShards();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the wait for the other shards was interrupted");
        }
    }

    /** Returns whether the other shards of the model have started, if this shard must have the weights of the same round. */
    boolean otherShardsHaveStarted() throws IOException {
        return checkpointer == null || checkpointer.otherShardsHaveStarted();
    }

    /** Starts to take checkpoints. Does nothing if the shard takes none. */
    void startCheckpoints() {
        if (checkpointer != null) {
            checkpointer.start();
        }
    }

    /**
     * Takes a last checkpoint before the shard stops. Does nothing if the shard takes none.
     *
     * @param disconnect disconnects all learners; may be called twice
     */
    void saveLast(Runnable disconnect) {
        if (checkpointer == null || !mayServe()) {
            return;
        }
        // Thread.interrupt closes the file that the thread uses, perhaps only after the thread has gone on to the next file. So
        // another thread, which nobody interrupts, writes the files.
        CompletableFuture<Void> save = new CompletableFuture<>();
        ThreadName.LAST_CHECKPOINT.builder(facts.model(), facts.shard()).start(() -> {
            try {
                checkpointer.saveLast(disconnect);
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
                if (!ended && clock.nanoTime() - Math.max(begunNs, checkpointer.lastAdvanceNs()) >= HANG.toNanos()) {
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

    /** A random number that identifies the updates of this shard; another one if the shard has lost updates. */
    long history() {
        if (journal != null) {
            return journal.history();
        }
        return checkpointer == null || replication != null ? ownHistory : checkpointer.history();
    }

    /** In bsp, the round of the checkpoint from which the shard has started; 0 if later rounds may have been restored too. */
    long startRound() {
        boolean onlyCheckpoint = journal == null && replication == null;
        return onlyCheckpoint && facts.consistencyMode().kind() == ConsistencyMode.Kind.BSP
            ? learners.firstRound() - 1
            : 0;
    }

    /** The checkpoints of the shard; null if the shard takes none. */
    Checkpointer checkpointer() {
        return checkpointer;
    }

    /** Frees the memory. May be called only when no task is in progress. */
    @Override
    public void close() {
        if (checkpointer != null) {
            checkpointer.close();
        }
        if (replication != null) {
            replication.stop();
        }
        if (records != null) {
            records.close();
        }
        if (replication != null) {
            replication.close();
        }
        consistency.close();
        keeper.close();
        store.close();
        aggregator.close();
    }
}
