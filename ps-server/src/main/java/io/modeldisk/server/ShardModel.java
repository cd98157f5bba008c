package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.server.block.BlockLayout;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.BlockVersions;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.Learners;
import io.modeldisk.server.model.ModelSource;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A shard of a model in memory, without a network: {@link ParameterServer} serves it, and tests or other programs embed it.
 * Thread-safe. Its owner calls {@link #expire} periodically.
 */
public final class ShardModel implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ShardModel.class);

    private final ModelFacts facts;
    private final Aggregator aggregator;
    private final BlockStore store;
    private final Learners learners;
    private final Consistency consistency;
    private final Traffic traffic = new Traffic();
    private final ShardStatus status;
    private final Target target;
    private final Duration lease;
    /** Whether learners have expired and not every block has gone on without them. Used by the caller of {@link #expire}. */
    private boolean unsettled;
    // Guarded by this.
    private boolean stopped;

    private ShardModel(ServerSettings settings, int maxLearners, BlockStore store) {
        this.facts = settings.facts();
        this.lease = settings.lease();
        this.aggregator = settings.aggregator();
        this.store = store;
        this.learners = new Learners(facts.learners(), facts.minLearners(), settings.lease(), maxLearners,
            store.layout(), settings.clock());
        this.consistency = Consistency.of(settings.consistency(), store, aggregator, learners);
        this.status = new ShardStatus(this, settings.clock());
        this.target = new ModelTarget(this, settings.nonFinite());
    }

    /**
     * Allocates a shard's memory and reads its weights.
     *
     * @param context the configuration, which is concluded here; the shard closes its aggregator
     * @throws IllegalArgumentException for a wrong setting, with its name, its value and a remedy
     * @throws IOException if the weights cannot be read
     */
    public static ShardModel open(ServerContext context) throws IOException {
        ServerSettings settings = context.conclude().settings();
        MemoryBudget budget = MemoryBudget.of(settings, context.network().bufferBytes());
        long maxHeapBytes = Runtime.getRuntime().maxMemory();
        budget.check(settings.facts().learners(), maxHeapBytes, MemoryLimit.ofThisProcess());
        ModelFacts facts = settings.facts();
        BlockLayout layout = new BlockLayout(facts.bytesOfShard(), facts.blockSizeBytes());
        BlockStore store = new BlockStore(layout, settings.spareBlocks(),
            settings.aggregator().stateBytesPerWeightByte());
        try {
            load(settings.source(), facts, store);
            return new ShardModel(settings, budget.learnersIn(maxHeapBytes), store);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            store.close();
            throw e;
        }
    }

    private static void load(ModelSource source, ModelFacts facts, BlockStore store) throws IOException {
        BlockLayout layout = store.layout();
        try (ModelSource.WeightsReader reader = source.open()) {
            for (int i = 0; i < layout.blocks(); i++) {
                long modelOffset = ((long) i * facts.shards() + facts.shard()) * facts.blockSizeBytes();
                int lengthBytes = (int) Math.min(facts.blockSizeBytes(), facts.sizeBytes() - modelOffset);
                reader.read(modelOffset, store.memory(), layout.offsetOf(i), lengthBytes);
            }
        }
    }

    /** The facts of the model and of this shard. */
    public ModelFacts facts() {
        return facts;
    }

    /** The shard as a target engine serves it. */
    public Target target() {
        return target;
    }

    /** The status, live, as JSON of at most 65,000 bytes. */
    public byte[] status() {
        return status.toJson();
    }

    /** How far the shard is, from numbers that are kept anyway; takes no block's lock. */
    public ShardCounters counters() {
        Roster<Learner> roster = learners.roster();
        BlockVersions versions = store.versions();
        return new ShardCounters(versions.min(), versions.max(), learners.lastOpenedRound(), roster.members().size(),
            roster.formed(), roster.tooFew());
    }

    /** Ends the learners whose lease is over; the rounds go on without them. */
    public void expire() {
        List<Learner> expired = learners.expire();
        for (Learner learner : expired) {
            LOG.warn("learner {} was gone for the lease of {} ms: the rounds go on without it", learner.label(),
                lease.toMillis());
        }
        if (!expired.isEmpty() || unsettled) {
            // Until all blocks have been looked at: a block whose aggregator failed is tried again at the next call.
            unsettled = true;
            learnersChanged();
            unsettled = false;
        }
    }

    /** Reconsiders waiting tasks, because learners have joined, left, or take part from a later round on. */
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
            LOG.warn("the job goes on with {} learners", roster.members().size());
        }
    }

    /** The reason why the job has stopped. */
    String stopReason(Roster<Learner> roster) {
        int left = roster.members().size();
        return "the job has stopped: " + left + (left == 1 ? " learner" : " learners") + " left, --min-learners is "
            + learners.minLearners() + "; it goes on when enough learners have joined again";
    }

    /** The time for which a silent or lost learner stays one. */
    Duration lease() {
        return lease;
    }

    BlockStore store() {
        return store;
    }

    Learners learners() {
        return learners;
    }

    Consistency consistency() {
        return consistency;
    }

    Traffic traffic() {
        return traffic;
    }

    /** Frees the memory. The owner makes sure that no task is in progress. */
    @Override
    public void close() {
        consistency.close();
        store.close();
        aggregator.close();
    }
}
