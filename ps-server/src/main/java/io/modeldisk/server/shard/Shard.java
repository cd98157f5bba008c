package io.modeldisk.server.shard;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.checkpoint.Checkpointer;
import io.modeldisk.fault.journal.JournalSink;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RateRecords;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.BlockVersions;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.Learners;
import io.modeldisk.server.kept.RoundKeeper;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A shard: its blocks, its learners with their consistency mode, its records and its checkpoints. The logical units, the status
 * and the backups of the shard use this class. Thread-safe.
 */
public abstract class Shard {
    private static final Logger LOG = LogManager.getLogger(Shard.class);

    private final ModelFacts facts;
    private final byte[] tensorsText;
    private final Aggregator aggregator;
    private final BlockStore store;
    private final Learners learners;
    private final Consistency consistency;
    private final RoundKeeper keeper;
    private final Duration lease;
    private final Traffic traffic = new Traffic();
    private final Set<Nexus> followers = ConcurrentHashMap.newKeySet();
    /** Null if the shard keeps no records. Set before the shard is served. */
    private volatile RecordLog records;
    /** Null if the shard has no journal. Set before the shard is served. */
    private JournalSink journal;
    /** Null if the shard takes no checkpoints. Set before the shard is served. */
    private volatile Checkpointer checkpointer;
    /** Null if only this process may serve the shard. Set before the shard is served. */
    private ReplicatedShard replication;
    /** The number of the history, if the shard has no checkpoints or has backups. */
    private volatile long ownHistory = ThreadLocalRandom.current().nextLong() | 1;
    // Guarded by the lock of this object.
    private boolean stopped;

    /** Creates a shard that keeps no records and takes no checkpoints. */
    protected Shard(
        ModelFacts facts, byte[] tensorsText, Aggregator aggregator, BlockStore store, Learners learners,
        Consistency consistency, RoundKeeper keeper, Duration lease) {
        this.facts = facts;
        this.tensorsText = tensorsText;
        this.aggregator = aggregator;
        this.store = store;
        this.learners = learners;
        this.consistency = consistency;
        this.keeper = keeper;
        this.lease = lease;
    }

    /** Keeps records from now on. */
    protected final void useRecords(RecordLog log) {
        records = log;
    }

    /** Keeps a journal from now on. */
    protected final void useJournal(JournalSink sink) {
        journal = sink;
    }

    /** Takes checkpoints from now on. */
    protected final void useCheckpoints(Checkpointer taken) {
        checkpointer = taken;
    }

    /** Makes this process one of several that may serve the shard, one at a time. */
    protected final void useReplication(ReplicatedShard replicated) {
        replication = replicated;
    }

    /** Returns whether this shard may have connections now. A backup always may, because only the primary uses a backup. */
    public abstract boolean mayServe();

    /** Requests a handover to a backup. The handover happens soon after this call. Returns false if no backup is in sync. */
    public abstract boolean handOver();

    /** Returns the current status as JSON of at most 65,000 bytes. */
    public abstract byte[] status();

    /** The facts of the model and of this shard that never change, such as sizes and names. */
    public final ModelFacts facts() {
        return facts;
    }

    /** The name of the device that applies gradients, such as {@code cuda:0 (NVIDIA H100 PCIe)}; null if the CPU does. */
    public final String device() {
        return store.device() == null ? null : store.device().toString();
    }

    /** The memory in which gradients arrive, such as {@code device memory by dma-buf}; null if the CPU applies gradients. */
    public final String pushPlace() {
        return store.device() == null ? null : store.devicePushes().toString();
    }

    /** The names and shapes of the model's tensors, as JSON like the header of a safetensors file. */
    public final byte[] tensorsText() {
        return tensorsText;
    }

    /** The blocks of the shard. */
    public final BlockStore store() {
        return store;
    }

    /** The learners of the shard. */
    public final Learners learners() {
        return learners;
    }

    /** The consistency mode. It decides which pushes and pulls wait. */
    public final Consistency consistency() {
        return consistency;
    }

    /** The weights of the round that initiators read now. */
    public final RoundKeeper keeper() {
        return keeper;
    }

    /** The counters of pushes and pulls. */
    public final Traffic traffic() {
        return traffic;
    }

    /** The connected mounts that follow the model without being learners. Thread-safe. */
    public final Set<Nexus> followers() {
        return followers;
    }

    /** The time for which the rounds wait for a learner that is silent or has lost its connection. */
    public final Duration lease() {
        return lease;
    }

    /** The records of the shard; null if the shard keeps none. */
    public final RecordLog records() {
        return records;
    }

    /** The journal of the shard; null if the shard has none. */
    public final JournalSink journal() {
        return journal;
    }

    /** The checkpoints of the shard; null if the shard takes none. */
    public final Checkpointer checkpointer() {
        return checkpointer;
    }

    /** The part of the shard for replication; null if only this process may serve the shard. */
    public final ReplicatedShard replication() {
        return replication;
    }

    /** True if another process is or may become the primary of the shard, and this process is not the primary. */
    public final boolean isBackup() {
        return replication != null && !replication.isPrimary();
    }

    /** Returns the progress of the shard. Does not lock any block. */
    public final ShardCounters counters() {
        Roster<Learner> roster = learners.roster();
        BlockVersions.Span versions = store.versions().span();
        return new ShardCounters(versions.min(), versions.max(), learners.lastOpenedRound(), roster.members().size(),
            roster.formed(), roster.tooFew(), history());
    }

    /** Returns the reason why the shard refuses pushes at the moment, in one line; null if it accepts them. Locks no block. */
    public final String refusal() {
        if (isBackup()) {
            return "this process is a backup; another process serves the shard";
        }
        if (!mayServe()) {
            return "the coordinator does not answer, so another process may serve the shard";
        }
        RecordLog log = records;
        String failure = log == null ? null : log.status().failure();
        Roster<Learner> roster = learners.roster();
        return failure == null && roster.tooFew() ? learners.stopReason(roster) : failure;
    }

    /** Records the users of all learners. Called after a learner without a known user has been assigned to this nexus's user. */
    public final void learnerClaimed(Nexus nexus) {
        LOG.info("learner '{}' belongs to user {} from now on", nexus.learner(), nexus.user());
        RecordLog log = records;
        if (log != null) {
            MemberRecords.appendRoster(learners, log);
        }
    }

    /** Checks the waiting tasks again after learners have joined, have left, or have postponed their first round. */
    public final void learnersChanged() {
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
            LOG.error("{}", learners.stopReason(roster));
        } else {
            LOG.warn("the job continues; the number of learners is {}", roster.members().size());
        }
    }

    /** The learning rate of the aggregator; null if it has none. */
    public final LearningRate learningRate() {
        return aggregator.learningRate();
    }

    /**
     * Changes the learning rate. No update of a block is in progress during the change, so a replay of the records applies each
     * update with the same rate.
     *
     * @throws ScsiException if the shard cannot keep a record of the change; the rate may have changed nevertheless
     */
    public final void changeLearningRate(LearningRate.Change change) throws ScsiException {
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

    /** A random number that identifies the history of updates. It changes when the shard loses updates. */
    public final long history() {
        if (journal != null) {
            return journal.history();
        }
        return checkpointer == null || replication != null ? ownHistory : checkpointer.history();
    }

    /** Continues the history of the primary whose records this backup receives. */
    public final void continueHistory(long ofPrimary) {
        ownHistory = ofPrimary;
    }

    /** The round of the checkpoint from which a bsp shard has started; 0 in other modes, or if later rounds may be restored. */
    public final long startRound() {
        boolean onlyCheckpoint = journal == null && replication == null;
        return onlyCheckpoint && facts.consistencyMode().kind() == ConsistencyMode.Kind.BSP
            ? learners.firstRound() - 1
            : 0;
    }
}
