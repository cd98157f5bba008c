package io.modeldisk.striping;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A {@link RemoteModel} over iSCSI sessions, with one queue of commands for each shard. After a lost connection or a stalled
 * shard, a call connects again and continues. {@link StripedModelContext#reconnectTimeout} limits the time of the attempts.
 */
public final class StripedModel implements RemoteModel {
    private static final Logger LOG = LogManager.getLogger(StripedModel.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    /** The shard that decides which part of the training data belongs to which learner. */
    private static final int DECIDING_SHARD = 0;
    private static final ValueLayout.OfInt COUNT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private final StripedModelContext context;
    private final List<ShardClient> shards;
    private final ModelFacts facts;
    private final long trainBytes;
    private final LearnerSessions learner;
    private final TransferPool transfers;
    private final Arrivals arrivals;
    private final VersionReader versions;
    /** The shard that had the lowest version when the counters of all shards were last read. */
    private volatile int lowestShard;
    /** The memory for the answers to ABSENT; null before the first use. Guarded by {@code this}. */
    private DataMemory markedCounts;

    private StripedModel(StripedModelContext context, List<ShardClient> shards, ModelFacts facts) {
        this.context = context;
        this.shards = shards;
        this.facts = facts;
        ModelFacts train = facts.as(context.dtype);
        this.trainBytes = train.sizeBytes();
        int requestBytes = shards.getFirst().sizes().requestBytes();
        Striping trainStriping = new Striping(train.blockSizeBytes(), train.shards(), requestBytes);
        Striping rawStriping = new Striping(facts.blockSizeBytes(), facts.shards(), requestBytes);
        int queueDepth = Math.max(ShardClient.MIN_OBSERVER_COMMANDS,
            shards.stream().mapToInt(shard -> shard.sizes().queueDepth()).max().orElseThrow());
        StripedTransfer.Timeouts timeouts = new StripedTransfer.Timeouts(context.waitTimeout.toNanos(),
            context.reconnectTimeout.toNanos(), context.sessions.commandTimeout().toNanos());
        this.learner = new LearnerSessions(shards, trainStriping, LogicalBlock.up(trainBytes),
            facts.consistencyMode().kind(), context::reconnection);
        this.arrivals = new Arrivals(context.clock(), facts.shards());
        this.transfers = new TransferPool(context.concurrentCalls, context.waitTimeout.toNanos(), context.clock(),
            shards.getFirst().id(), giveBack -> new StripedTransfer(context.dtype, trainStriping, rawStriping,
                queueDepth, learner, timeouts, context.clock(), arrivals, giveBack));
        this.versions = new VersionReader(shards.stream().<VersionReader.Keeper>map(shard -> shard::keepRound).toList(),
            shards.getFirst().id(), facts, context.waitTimeout.toNanos(), context.reconnectTimeout.toNanos(),
            context.clock(), (offset, memory, memoryOffset, bytes, cancellation) -> move(Direction.KEPT, offset, memory,
                memoryOffset, bytes, cancellation, null));
    }

    /**
     * Logs in to every shard and checks that the targets are the shards of the model, in their order. If shards can move, repeats
     * the attempt while a shard is not served, for at most {@link StripedModelContext#reconnectTimeout}.
     *
     * @throws IOException if a shard does not respond, or the shards are not the shards of this model in their order. All
     *     sessions are then closed
     */
    public static StripedModel connect(StripedModelContext context) throws IOException {
        context.conclude();
        return context.locator.shardsMove()
            ? context.reconnection().run(() -> logIn(context), Cancellation.NONE)
            : logIn(context);
    }

    private static StripedModel logIn(StripedModelContext context) throws IOException {
        List<ShardClient> shards = new ArrayList<>();
        try {
            for (int i = 0; i < context.locator.shardCount(); i++) {
                shards.add(new ShardClient(context, i));
            }
            List<ModelFacts> facts = AllShards.call(shards,
                shard -> ModelFacts.fromJson(shard.vpdPage(ModelFacts.VPD_PAGE)));
            for (int i = 0; i < shards.size(); i++) {
                ShardCheck.check(shards.get(i).id(), facts.get(i), facts.getFirst(), shards.size());
                ShardCheck.sharesState(shards.get(i).id(), facts.get(i), facts.getFirst());
                ShardCheck.offers(shards.get(i).id(), facts.get(i), context.dtype);
                shards.get(i).expect(facts.getFirst());
            }
            context.locator.onMove(moved -> shards.get(moved).moved());
            return new StripedModel(context, List.copyOf(shards), facts.getFirst());
        } catch (IOException | RuntimeException e) {
            close(shards);
            throw e;
        }
    }

    @Override
    public String learner() {
        return context.learner;
    }

    @Override
    public boolean follows() {
        return context.follower;
    }

    @Override
    public ModelFacts facts() {
        return facts;
    }

    @Override
    public ValueType dtype() {
        return context.dtype;
    }

    @Override
    public long trainBytes() {
        return trainBytes;
    }

    /** Allocates memory that the sessions of every shard can use. */
    @Override
    public DataMemory allocate(long bytes) throws IOException {
        return adopt(DataMemory.allocateShareable(bytes));
    }

    @Override
    public DataMemory adopt(DataMemory memory) throws IOException {
        try {
            for (ShardClient shard : shards) {
                if (shard.route().portal().needsPreparedMemory()) {
                    context.reconnection().run(shard::observer, Cancellation.NONE).prepare(memory);
                }
            }
            return memory;
        } catch (IOException | RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** The datamover for each shard and the reason for the choice, in the order of the shards. */
    public List<Route> routes() {
        return shards.stream().map(ShardClient::route).toList();
    }

    @Override
    public boolean startPull(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
        Cancellation cancellation, Completion completion) throws IOException {
        return move(Direction.PULL, offset, memory, memoryOffset, lengthBytes, cancellation, completion);
    }

    @Override
    public boolean startPush(long offset, DataMemory memory, long memoryOffset, long lengthBytes, boolean judged,
        Cancellation cancellation, Completion completion) throws IOException {
        check(Direction.PUSH, offset, memory, memoryOffset, lengthBytes);
        boolean searches = facts.checksGradients() && !judged;
        if (searches && !dtype().areFinite(memory, memoryOffset, lengthBytes)) {
            if (facts.skipsNonFinite()) {
                absent(offset, lengthBytes, true, cancellation);
                return false;
            }
            countNonFinite();
            throw nonFinite(shards.getFirst().id(), "this write at byte " + offset);
        }
        return startMarked(facts.checksGradients() ? Direction.PUSH_FINITE : Direction.PUSH, offset, memory,
            memoryOffset, lengthBytes, cancellation, completion);
    }

    /** Returns the exception for a gradient that is refused because of NaN or infinity. */
    private static ShardException nonFinite(ShardId shard, String what) {
        return new ShardException(ShardException.Kind.REFUSED, shard, what
            + " has a NaN or an infinity, which would destroy the weights; no part of it was pushed, but the"
            + " shards apply the other writes of this gradient (see `modeldisk serve --non-finite`)");
    }

    @Override
    public long absent(long offset, long lengthBytes, boolean nonFinite, Cancellation cancellation)
        throws IOException {
        DataMemory marked = markedCounts();
        long first = offset / StripedTransfer.ABSENT_BYTES_PER_BYTE;
        long bytes = lengthBytes / StripedTransfer.ABSENT_BYTES_PER_BYTE;
        for (long at = first; at < first + bytes; at += Integer.BYTES) {
            marked.slab(at).set(COUNT, DataMemory.offsetInSlab(at), 0);
        }
        startMarked(nonFinite ? Direction.ABSENT_NON_FINITE : Direction.ABSENT, offset, marked, first, lengthBytes,
            cancellation, null);
        long logicalBlocks = 0;
        for (long at = first; at < first + bytes; at += Integer.BYTES) {
            logicalBlocks += marked.slab(at).get(COUNT, DataMemory.offsetInSlab(at));
        }
        return logicalBlocks * LogicalBlock.BYTES;
    }

    /** Returns the memory for answers to ABSENT, one count per logical block. A command sets the first count of its range. */
    private DataMemory markedCounts() throws IOException {
        synchronized (this) {
            if (markedCounts == null) {
                markedCounts = allocate(
                    LogicalBlock.up(LogicalBlock.up(trainBytes) / StripedTransfer.ABSENT_BYTES_PER_BYTE));
            }
            return markedCounts;
        }
    }

    @Override
    public void countNonFinite() {
        try {
            shards.get(DECIDING_SHARD).countNonFinite(learner.session(DECIDING_SHARD, Direction.PUSH),
                Math.max(1, nextRound()));
        } catch (IOException e) {
            LOG.debug("a gradient with a NaN or an infinity was not counted: {}", e.getMessage());
        }
    }

    /** Pushes a range or marks it as absent, and begins with the logical blocks that must be repeated after a failed call. */
    private boolean startMarked(Direction direction, long offset, DataMemory memory, long memoryOffset,
        long lengthBytes, Cancellation cancellation, Completion completion) throws IOException {
        learner.join(cancellation);
        check(direction, offset, memory, memoryOffset, lengthBytes);
        PushLedger ledger = learner.ledger();
        if (ledger == null) {
            throw new ShardException(ShardException.Kind.CLOSED, shards.getFirst().id(),
                shards.getFirst().id() + ": the push failed, because this learner has left the model");
        }
        if (!ledger.hasRepeatable(offset / LogicalBlock.BYTES, (offset + lengthBytes) / LogicalBlock.BYTES)) {
            return move(direction, offset, memory, memoryOffset, lengthBytes, cancellation, completion);
        }
        RepeatedPush.Mover mover = (part, at, inMemory, bytes) -> move(part, at, memory, inMemory, bytes, cancellation,
            null);
        new RepeatedPush(ledger, direction, offset, memoryOffset, lengthBytes, mover).run();
        return false;
    }

    @Override
    public void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        move(Direction.READ, offset, memory, memoryOffset, lengthBytes, cancellation, null);
    }

    @Override
    public ReadVersion readVersion(long offset, DataMemory memory, long memoryOffset, long lengthBytes, long sinceNs,
        Cancellation cancellation) throws IOException {
        check(Direction.KEPT, offset, memory, memoryOffset, lengthBytes);
        return versions.read(offset, memory, memoryOffset, lengthBytes, sinceNs, cancellation);
    }

    @Override
    public boolean isNewest(ReadVersion version, long offset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        return versions.isNewest(version, offset, lengthBytes, cancellation);
    }

    @Override
    public byte[] tensors() throws IOException {
        return shards.getFirst().tensors();
    }

    @Override
    public Arrivals arrivals() {
        return arrivals;
    }

    @Override
    public void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        move(Direction.WRITE, offset, memory, memoryOffset, lengthBytes, cancellation, null);
    }

    /** Moves a range. Returns true if the call continues after this method. Only a call with a completion can continue. */
    private boolean move(
        Direction direction, long offset, DataMemory memory, long memoryOffset, long bytes,
        Cancellation cancellation, Completion completion)
        throws IOException {
        check(direction, offset, memory, memoryOffset, bytes);
        if (bytes == 0) {
            return false;
        }
        if (completion == null) {
            flush();
        } else {
            transfers.watch();
        }
        StripedTransfer transfer = transfers.poll();
        if (transfer == null) {
            flush();
            transfer = transfers.take(cancellation);
        }
        boolean goesOn = false;
        PushLedger ledger = direction == Direction.KEPT ? null : learner.ledger();
        try {
            goesOn = transfer.start(direction, offset, memory, memoryOffset, bytes, cancellation, ledger, completion);
        } finally {
            if (!goesOn) {
                transfers.giveBack(transfer);
            }
        }
        return goesOn;
    }

    @Override
    public void flush() {
        learner.flush();
    }

    private void check(Direction direction, long offset, DataMemory memory, long memoryOffset, long bytes) {
        long most = LogicalBlock.up(direction.trains() ? trainBytes : facts.sizeBytes());
        if (!LogicalBlock.isAligned(offset | bytes) || offset < 0 || bytes < 0 || bytes > most - offset) {
            throw new IllegalArgumentException("offset=" + offset + " length=" + bytes
                + " must be multiples of 4096 within the model's " + most + " bytes");
        }
        long inMemory = direction.isAbsent() ? bytes / StripedTransfer.ABSENT_BYTES_PER_BYTE : bytes;
        if (memoryOffset < 0 || inMemory > memory.bytes() - memoryOffset) {
            throw new IllegalArgumentException("memoryOffset=" + memoryOffset + " length=" + inMemory
                + " must lie within the memory's " + memory.bytes() + " bytes");
        }
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        AllShards.run(shards, shard -> context.reconnection().run(() -> {
            shard.synchronizeCache(learner.session(shard.id().index(), Direction.PUSH), cancellation);
            return null;
        }, cancellation));
        PushLedger ledger = learner.ledger();
        if (ledger != null) {
            ledger.beginCall();
        }
    }

    @Override
    public long goOn() {
        return learner.goOn();
    }

    @Override
    public void join() throws IOException {
        learner.join(Cancellation.NONE);
    }

    @Override
    public void leave() throws IOException {
        learner.leave();
    }

    @Override
    public SessionsImage learnerImage() {
        return learner.image();
    }

    @Override
    public void resumeLearner(SessionsImage image, boolean killed) {
        learner.resume(image, killed);
        if (learner.ledger() == null) {
            return;
        }
        // Joins all shards now, because they wait only for a limited time for a learner whose connection was lost.
        for (int i = 0; i < shards.size(); i++) {
            try {
                learner.session(i, Direction.PUSH);
            } catch (IOException e) {
                LOG.warn("{}; the learner joins {} at its next call", e.getMessage(), shards.get(i).id());
            }
        }
    }

    @Override
    public long nextRound() {
        PushLedger ledger = learner.ledger();
        return ledger == null ? 0 : ledger.nextPushRound(DECIDING_SHARD);
    }

    @Override
    public Partition partition(long round, Cancellation cancellation) throws IOException {
        ShardClient shard = shards.get(DECIDING_SHARD);
        return context.reconnection().run(() -> {
            IscsiSession session = learner.session(DECIDING_SHARD, Direction.PUSH);
            PushLedger ledger = learner.ledger();
            return shard.partition(session, ledger == null ? round : ledger.nearestRound(DECIDING_SHARD, round),
                cancellation);
        }, cancellation);
    }

    @Override
    public float learningRate(long round) throws IOException {
        List<Float> rates = context.reconnection()
            .run(() -> AllShards.call(shards, shard -> shard.learningRate(round, 0)), Cancellation.NONE);
        if (rates.stream().distinct().count() > 1) {
            throw new IOException("the shards have different learning rates in round " + round + ": " + rates
                + "; set the learning rate again");
        }
        return rates.getFirst();
    }

    @Override
    public void changeLearningRate(long fromRound, float rate) throws IOException {
        context.reconnection().run(() -> AllShards.call(shards, shard -> shard.learningRate(fromRound, rate)),
            Cancellation.NONE);
    }

    @Override
    public JsonNode status() throws IOException {
        ArrayNode all = JSON.createArrayNode();
        all.addAll(AllShards.call(shards, shard -> JSON.readTree(shard.vpdPage(ModelFacts.STATUS_VPD_PAGE))));
        return all;
    }

    /**
     * Requests a checkpoint of the model from shard 0. Does not wait for the checkpoint.
     *
     * @return the number of the request; the status of shard 0 shows when the request has been answered
     * @throws IOException if the shard refuses the request, for example because it takes no checkpoints
     */
    public long requestCheckpoint() throws IOException {
        return shards.getFirst().requestCheckpoint();
    }

    /**
     * Requests that a shard hand over to one of its backups, which then becomes the primary. Does not wait for the handover.
     *
     * @throws IOException if the shard refuses, for example because no backup is in sync
     */
    public void requestHandOver(int shard) throws IOException {
        shards.get(shard).requestHandOver();
    }

    @Override
    public ShardCounters counters() throws IOException {
        return AllShards.call(shards, shard -> ShardCounters.fromBytes(shard.vpdPage(ShardCounters.VPD_PAGE))).stream()
            .reduce(ShardCounters::and).orElseThrow();
    }

    @Override
    public ShardCounters awaitVersion(long known, Cancellation cancellation) throws IOException {
        return context.reconnection().run(() -> awaitOnce(known, cancellation), cancellation);
    }

    private ShardCounters awaitOnce(long known, Cancellation cancellation) throws IOException {
        if (known != AwaitCommand.NONE) {
            // While the version of this shard stays the same, the lowest version among all shards cannot increase.
            ShardCounters changed = shards.get(lowestShard).awaitVersion(known, cancellation);
            if (changed != null && shards.size() == 1) {
                return changed;
            }
        }
        List<ShardCounters> each = AllShards.call(shards,
            shard -> shard.awaitVersion(AwaitCommand.NONE, cancellation));
        int lowest = 0;
        ShardCounters all = each.getFirst();
        for (int i = 1; i < each.size(); i++) {
            lowest = each.get(i).minVersion() < each.get(lowest).minVersion() ? i : lowest;
            all = all.and(each.get(i));
        }
        lowestShard = lowest;
        return all;
    }

    @Override
    public void close() {
        transfers.close();
        close(shards);
        synchronized (this) {
            if (markedCounts != null) {
                markedCounts.close();
                markedCounts = null;
            }
        }
    }

    private static void close(List<ShardClient> shards) {
        try {
            AllShards.run(shards, ShardClient::close);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
