package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Member;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.server.block.BlockLayout;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.BlockVersions;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.LearnerProgress;
import io.modeldisk.server.consistency.RoundMarks;
import io.modeldisk.server.consistency.RoundTimes;
import io.modeldisk.server.model.ModelSource;
import java.io.IOException;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A shard of a model in memory, without a network: what {@link ParameterServer} serves, and what a test or another program
 * embeds. Thread-safe; whoever embeds it calls {@link #expire} now and then.
 */
public final class ShardModel implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ShardModel.class);

    private final ModelFacts facts;
    private final Aggregator aggregator;
    private final BlockStore store;
    private final Membership<Nexus, LearnerProgress> membership;
    private final Consistency consistency;
    private final RoundTimes roundTimes;
    private final Traffic traffic = new Traffic();
    private final ShardStatus status;
    private final Target target;
    private final long leaseNanos;
    // Guarded by this.
    private boolean stopped;

    private ShardModel(ServerSettings settings, BlockStore store, LongSupplier nanoClock) {
        this.facts = settings.facts();
        this.aggregator = settings.aggregator();
        this.store = store;
        this.roundTimes = new RoundTimes(nanoClock);
        this.leaseNanos = settings.lease().toNanos();
        this.membership = new Membership<>(
            facts.learners(),
            facts.minLearners(),
            leaseNanos,
            nanoClock,
            () -> new LearnerProgress(new RoundMarks(store.layout()), roundTimes));
        this.consistency = Consistency.of(settings.consistency(), store, aggregator, membership);
        this.status = new ShardStatus(this, nanoClock);
        this.target = new ModelTarget(this);
    }

    /** Opens a shard that runs by {@link System#nanoTime}; see {@link #open(ParameterServer.Context, LongSupplier)}. */
    public static ShardModel open(ParameterServer.Context context) throws IOException {
        return open(context, System::nanoTime);
    }

    /**
     * Allocates a shard's memory and reads its weights.
     *
     * @param context what to serve; concluded here. The shard closes its aggregator.
     * @param nanoClock the clock of the leases
     * @throws IllegalArgumentException if a setting is wrong, naming it, its value and what would be right
     * @throws IOException if the weights cannot be read
     */
    public static ShardModel open(ParameterServer.Context context, LongSupplier nanoClock) throws IOException {
        ServerSettings settings = context.conclude().settings();
        MemoryBudget.check(settings);
        ModelFacts facts = settings.facts();
        BlockLayout layout = new BlockLayout(facts.bytesOfShard(), facts.blockSizeBytes());
        BlockStore store = new BlockStore(layout, settings.spareBlocks(),
            settings.aggregator().stateBytesPerWeightByte());
        try {
            load(settings.source(), facts, store);
            return new ShardModel(settings, store, nanoClock);
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

    /** What the shard says of its model. */
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
        Roster<Nexus, LearnerProgress> roster = membership.roster();
        BlockVersions versions = store.versions();
        return new ShardCounters(versions.min(), versions.max(), membership.lastOpenedRound(), roster.members().size(),
            roster.formed(), roster.tooFew());
    }

    /** Ends the learners whose lease is over by {@code nowNanos}; the rounds go on without them. */
    public void expire(long nowNanos) {
        List<Member<Nexus, LearnerProgress>> expired = membership.expire(nowNanos);
        for (Member<Nexus, LearnerProgress> member : expired) {
            LOG.warn("learner {} has been gone for its lease: the rounds go on without it", member.key().learner());
        }
        if (!expired.isEmpty()) {
            learnersChanged();
        }
    }

    /** Learners have joined, left, or take part from a later round on: looks again at what waited for them. */
    void learnersChanged() {
        tellOfStop();
        consistency.learnersLeft();
    }

    private synchronized void tellOfStop() {
        Roster<Nexus, LearnerProgress> roster = membership.roster();
        if (roster.tooFew() == stopped) {
            return;
        }
        stopped = !stopped;
        if (stopped) {
            LOG.error("{}", stopWords(roster));
        } else {
            LOG.warn("the job goes on with {} learners", roster.members().size());
        }
    }

    /** Why the job has stopped. */
    String stopWords(Roster<Nexus, LearnerProgress> roster) {
        int left = roster.members().size();
        return "the job has stopped: " + left + (left == 1 ? " learner is" : " learners are")
            + " left, and it must have "
            + membership.minLearners() + " (--min-learners); it goes on when there are as many again";
    }

    /** How long a learner whose connection is gone, or who is silent, stays one. */
    long leaseNanos() {
        return leaseNanos;
    }

    BlockStore store() {
        return store;
    }

    Membership<Nexus, LearnerProgress> membership() {
        return membership;
    }

    Consistency consistency() {
        return consistency;
    }

    RoundTimes roundTimes() {
        return roundTimes;
    }

    Traffic traffic() {
        return traffic;
    }

    /** Gives the memory back. The owner makes sure that no task is in progress. */
    @Override
    public void close() {
        consistency.close();
        store.close();
        aggregator.close();
    }
}
