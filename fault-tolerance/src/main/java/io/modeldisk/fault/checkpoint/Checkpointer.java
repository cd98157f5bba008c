package io.modeldisk.fault.checkpoint;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.membership.MembershipImage;
import io.modeldisk.fault.model.ModelSource;
import io.modeldisk.fault.shard.ShardBlocks;
import io.modeldisk.fault.shard.ShardRounds;
import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.time.PeriodicThread;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.Nexus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Takes the checkpoints of a shard. The shards of a model agree through the directory that they share:
 *
 * <ol>
 * <li>Shard 0 requests a checkpoint: it creates the folder of the checkpoint. In bsp, the request names the round after which all
 * shards save their weights.
 * <li>Each shard finds the folder and saves its blocks ({@link Snapshot}). If a block has already passed the round, the shard
 * adds a refusal to the folder. Shard 0 then withdraws the request, and requests a later round.
 * <li>Each shard that is done adds its {@link PartFile}. When all shards are done, shard 0 publishes the checkpoint: it gives the
 * folder its final name, and deletes old checkpoints.
 * </ol>
 *
 * <p>A shard reads the directory every 100 ms. Thread-safe.
 */
public final class Checkpointer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(Checkpointer.class);
    private static final Duration TICK = Duration.ofMillis(100);
    /** After this number of ticks, which is a second, the starts of the other shards are checked again. */
    private static final int TICKS_PER_CHECK = 10;
    /** After this number of ticks, about a third of a second, the stops of the other shards are checked again. */
    private static final int TICKS_PER_HOLD = 3;
    /** The value of {@link #changesAtStart} if the shard has other weights than the newest checkpoint. */
    private static final long CHANGED = -1;

    private final CheckpointSettings settings;
    private final ModelFacts facts;
    private final boolean inRounds;
    private final ShardBlocks store;
    private final Membership<Nexus, ?> learners;
    private final Aggregator aggregator;
    private final Progress progress;
    private final ShardRounds<?> consistency;
    private final NanoClock clock;
    private final StateDirectory state;
    private final WeightFiles weights;
    private final BlockCopies copies;
    private final PeriodicThread thread;
    /** The starts of all shards; null if this shard never needs to go back because of other shards. */
    private final ShardStarts starts;
    /** The records in the shard's journal; null if the shard has no journal. */
    private final CheckpointLog log;
    private final Runnable goBack;
    private final BooleanSupplier mayServe;
    /** The requests for checkpoints; null if this is not shard 0. */
    private final CheckpointRequests requests;
    private final PlannedStop stop;
    private final long changesAtStart;
    private final long startedFrom;
    private volatile CheckpointStatus status;
    private volatile Snapshot snapshot;
    private volatile boolean closing;
    private volatile boolean goneBack;

    // The following fields are used only by the thread that calls step().
    private StateDirectory.Folder folder;
    private PartWriter writer;
    /** The {@link CheckpointFacts#id} of the last checkpoint that this shard has begun or refused; 0 before the first. */
    private long begun;
    /** True if the shard holds back the pushes of rounds after the last checkpoint. */
    private boolean held;
    private String lastFailure;
    /** A checkpoint that this shard could not write, if this failure must still be reported to shard 0; otherwise null. */
    private FailedCheckpoint unreported;
    private long ticks;
    private long looks;

    /**
     * Creates a checkpointer that is not started yet.
     *
     * @param newest the result of {@link CheckpointLoader#load}, or of {@link CheckpointLoader#newest} if the shard continues the
     *     history of another process
     * @param history the number of the history that the shard continues; 0 if the shard has started from the newest checkpoint
     * @param log the records in the shard's journal; null if the shard has no journal
     * @param rawWrites the number of writes of weights so far, which are not updates
     * @param goBack is called by the checkpointer's thread if the shard must go back, because another shard has gone back
     * @param mayServe returns whether the shard may serve at this moment; otherwise, the directory belongs to another process
     * @throws IOException if the directory cannot be used; the message names the directory
     */
    public Checkpointer(
        CheckpointSettings settings, ModelFacts facts, ModelSource source, ShardBlocks store,
        Aggregator aggregator,
        Membership<Nexus, ?> learners, ShardRounds<?> consistency, NanoClock clock, CheckpointStatus newest,
        long history,
        CheckpointLog log, LongSupplier rawWrites, Runnable goBack, BooleanSupplier mayServe)
        throws IOException {
        this.settings = settings;
        this.facts = facts;
        this.inRounds = facts.consistencyMode().kind() == ConsistencyMode.Kind.BSP;
        this.store = store;
        this.learners = learners;
        this.aggregator = aggregator;
        this.progress = new Progress(store, learners, rawWrites);
        this.consistency = consistency;
        this.clock = clock;
        this.state = StateDirectory.open(settings.state());
        this.weights = WeightFiles.of(source.tensors(), source.metadata(), settings.maxFileBytes());
        this.status = newest;
        this.goBack = goBack;
        this.mayServe = mayServe;
        this.log = log;
        // With a journal, a shard loses no round, so no shard must go back because of another shard.
        this.starts = inRounds && facts.shards() > 1 && log == null
            ? history == 0
                ? ShardStarts.begin(state, facts.shard(), facts.shards(), newest.number(), clock)
                : ShardStarts.resume(state, facts.shard(), facts.shards(), clock)
            : null;
        this.changesAtStart = history == 0 ? progress.changes() : CHANGED;
        this.startedFrom = newest.number();
        this.stop = new PlannedStop(state, facts, progress, clock, newest.number(), history);
        this.requests = facts.shard() == 0
            ? new CheckpointRequests(settings, facts, progress, clock, state, this::abandon)
            : null;
        refuseOlder();
        this.thread = new PeriodicThread(ThreadName.CHECKPOINT.builder(facts.model(), facts.shard()), clock, TICK,
            this::step);
        this.copies = new BlockCopies(facts.blockSizeBytes(), aggregator.stateBytesPerLogicalBlock(), thread::wake);
    }

    /** Starts a thread that calls {@link #step} periodically. */
    public void start() {
        thread.start();
    }

    /**
     * Refuses a checkpoint that was requested before this shard started, because the other shards might have saved weights from
     * the time before this shard went back to an older checkpoint.
     */
    private void refuseOlder() throws IOException {
        StateDirectory.Folder partial = state.partial();
        try {
            if (facts.shard() == 0) {
                refuseOtherModel(partial);
                state.cleanUp();
            } else if (partial != null) {
                begun = partial.facts().id();
                DurableFiles.write(partial.file(CheckpointRequests.MISSED + facts.shard()), new byte[0]);
            }
        } catch (NoSuchFileException e) {
            LOG.debug("shard 0 has withdrawn {}", partial);
        }
    }

    /** Throws an exception if the partial checkpoint is of another model, because this shard would otherwise delete it. */
    private void refuseOtherModel(StateDirectory.Folder partial) throws IOException {
        if (partial != null && partial.has(CheckpointFacts.FILE)) {
            partial.facts().checkModel(facts, partial.path().toString());
        }
    }

    /**
     * Requests a checkpoint that is taken as soon as possible. May be called only on shard 0.
     *
     * @return the number of this request. The request has succeeded or failed when {@link CheckpointStatus#answered} is at
     *     least this number
     */
    public long request() {
        return requests.request();
    }

    /**
     * A random number that identifies the updates of this shard. A shard gets a new number when it starts from a checkpoint that
     * lacks some of its updates. A shard that has lost no update keeps its number.
     */
    public long history() {
        return stop.history();
    }

    /**
     * Restores the memberships of the learners that had pushed all rounds of a bsp shard when it was stopped. Must be called
     * before a learner joins, and only if the shard has neither a journal nor backups, which restore the learners themselves.
     */
    public void continueLearners() {
        learners.remember(stop.learners());
    }

    /** The newest checkpoint, and the last failure. */
    public CheckpointStatus status() {
        return status;
    }

    /** Reads the directory, and does the next step of a checkpoint. Must not be called after {@link #start}. */
    public void step() {
        if (goneBack || closing || !mayServe.getAsBoolean()) {
            return;
        }
        if (mustGoBack()) {
            goneBack = true;
            drop();
            goBack.run();
            return;
        }
        try {
            if (log != null) {
                watchJournal();
            }
            hold();
            if (unreported != null) {
                report();
            }
            if (requests != null) {
                schedule();
            }
            if (snapshot != null) {
                goOn();
            } else {
                look();
            }
        } catch (IOException e) {
            if (folder != null && !isCurrent()) {
                withdrawn();
            } else {
                fail(e);
            }
        } finally {
            if (closing) {
                drop();
            }
        }
    }

    /**
     * Holds pushes back at once if another shard has stopped, and releases them when that shard is back. A shard that starts
     * first records its checkpoint in the directory, so this shard finds out before the release whether it must go back.
     */
    private void hold() throws IOException {
        boolean due = held || inRounds && looks++ % TICKS_PER_HOLD == 0;
        if (!due || held == stop.mustHold()) {
            return;
        }
        if (held) {
            if (starts != null && starts.firstDisagreement(this::has) != null) {
                return;
            }
            held = false;
            consistency.holdAfter(Long.MAX_VALUE);
        } else if (stop.isSaved()) {
            held = true;
            consistency.holdAfter(stop.savedRound());
        }
    }

    /** Requests a checkpoint if the journal of this or another shard is long. Refuses pushes if this shard's journal is full. */
    private void watchJournal() throws IOException {
        log.limit(status.failure());
        boolean wanted = log.mustRequest() && status.writing() == 0;
        if (facts.shard() == 0) {
            if (state.takeRequests() || wanted) {
                request();
            }
        } else if (wanted) {
            state.askForCheckpoint(facts.shard());
        }
    }

    private boolean mustGoBack() {
        if (starts == null || ticks++ % TICKS_PER_CHECK != 0) {
            return false;
        }
        try {
            StartAgainException disagreement = starts.firstDisagreement(this::has);
            if (disagreement != null) {
                LOG.warn(
                    "{}; this shard goes back to the same checkpoint, because in bsp all shards have the weights of"
                        + " one round",
                    disagreement.getMessage());
            }
            return disagreement != null;
        } catch (IOException e) {
            LOG.debug("the starts of the other shards cannot be read: {}", e.toString());
            return false;
        }
    }

    /** Returns whether the weights of this shard are those of the checkpoint with this number. */
    private boolean has(long checkpoint) {
        return checkpoint == startedFrom && progress.changes() == changesAtStart || held && stop.isSavedBy(checkpoint);
    }

    /**
     * Waits, in bsp, until all other shards have started from the same checkpoint. Must be called before {@link #start}.
     *
     * @throws StartAgainException if another shard has started from another checkpoint, so this shard must load a checkpoint
     *     again
     */
    public void awaitOtherShards() throws IOException, InterruptedException {
        if (starts != null) {
            starts.await(this::has, TICK);
        }
    }

    /**
     * Returns whether, in bsp, all other shards have started from the same checkpoint. Must be called before {@link #start}.
     *
     * @throws StartAgainException if another shard has started from another checkpoint, so this shard must load a checkpoint
     *     again
     */
    public boolean otherShardsHaveStarted() throws IOException {
        return starts == null || starts.areAgreed(this::has);
    }

    private void look() throws IOException {
        StateDirectory.Folder partial = state.partial();
        noteNewest();
        try {
            if (partial != null && partial.facts().id() != begun) {
                begin(partial);
            } else if (partial != null && facts.shard() == 0 && hasAllParts(partial)) {
                publish(partial);
            }
        } catch (NoSuchFileException e) {
            LOG.debug("the checkpoint {} was withdrawn", partial.path());
            drop();
        }
    }

    /** Updates the status if shard 0 has published a checkpoint. */
    private void noteNewest() throws IOException {
        if (status.writing() == 0) {
            return;
        }
        Path complete = state.folder(status.writing());
        if (Files.exists(complete)) {
            StateDirectory.Folder newest = new StateDirectory.Folder(complete, status.writing(), false);
            completed(newest, newest.facts());
        }
    }

    /** On shard 0, requests checkpoints and withdraws requests. */
    private void schedule() throws IOException {
        if (stop.mustRequest()) {
            requests.request();
        }
        StateDirectory.Folder next = requests.next(status.answered());
        String reason = requests.takeFailure();
        if (reason != null) {
            status = status.failed(reason, requests.covered());
        }
        if (next != null) {
            abandon();
            begin(next);
        }
    }

    private void begin(StateDirectory.Folder partial) throws IOException {
        folder = partial;
        unreported = null;
        CheckpointFacts wanted = partial.facts();
        long id = wanted.id();
        begun = id;
        if (wanted.shards() != facts.shards() || !wanted.model().equals(facts.model())) {
            throw new IOException(partial.path() + " is of model '" + wanted.model() + "' with "
                + Plural.counted(wanted.shards(), "shard") + ": each model needs its own directory with --state");
        }
        status = status.writing(partial.number());
        boolean must = stop.mustHold();
        if (must || held) {
            consistency.holdAfter(must ? wanted.round() : Long.MAX_VALUE);
        }
        held = must;
        stop.begun(partial.number(), wanted.round(), held);
        writer = new PartWriter(partial, wanted, facts.shard(), store.layout(),
            aggregator.stateBytesPerLogicalBlock(), weights, clock);
        if (log != null) {
            log.begin(begun);
        }
        snapshot = new Snapshot(store, consistency::rounds, writer, copies,
            log == null ? block -> {} : block -> consistency.recordBlock(block, id), inRounds ? wanted.round() : -1);
        store.watch(snapshot);
        // A round is recorded as opened before the round closes, so this check finds each block that has already passed the
        // wanted round. If a block passes the wanted round later, the snapshot saves the block before this change.
        if (inRounds && progress.openedRound() > wanted.round()) {
            drop();
            DurableFiles.write(partial.file(CheckpointRequests.MISSED + facts.shard()), new byte[0]);
        } else {
            goOn();
        }
    }

    private void goOn() throws IOException {
        if (!isCurrent()) {
            withdrawn();
        } else if (snapshot.sweep() && (log == null || log.isDurable())) {
            store.watch(null);
            LearningRate rate = aggregator.learningRate();
            writer.finish(rate == null ? List.of() : rate.changes());
            stop.written(writer.updates());
            drop();
        }
    }

    /** Returns whether the folder still belongs to the checkpoint that this shard has begun. */
    private boolean isCurrent() {
        try {
            return folder.facts().id() == begun;
        } catch (IOException e) {
            return false;
        }
    }

    /** Abandons a checkpoint that shard 0 has withdrawn, because another shard could not fulfil the request. */
    private void withdrawn() {
        LOG.debug("the checkpoint {} was withdrawn", folder.path());
        abandon();
    }

    private void abandon() {
        drop();
        folder = null;
    }

    private boolean hasAllParts(StateDirectory.Folder partial) {
        return IntStream.range(0, facts.shards()).allMatch(shard -> partial.has(PartFile.name(shard, facts.shards())));
    }

    private void publish(StateDirectory.Folder partial) throws IOException {
        CheckpointFacts written = partial.facts();
        if (!mayServe.getAsBoolean()) {
            // This process might have paused during the step, and the directory might now belong to another process of shard 0.
            return;
        }
        state.publish(partial, weights.index());
        if (mayServe.getAsBoolean()) {
            state.prune(settings.keep());
        }
        completed(partial, written);
    }

    private void completed(StateDirectory.Folder complete, CheckpointFacts written) {
        stop.completed(complete.number());
        status = status.completed(complete, written, requests == null ? 0 : requests.covered());
        folder = null;
        if (requests != null) {
            requests.completed();
        }
        lastFailure = null;
        if (log != null) {
            log.completed(state.path(), written.id());
        }
        LOG.info("checkpoint {} of round {} is complete", complete.complete(), written.round());
    }

    /** Stops the snapshot, and keeps its files. */
    private void drop() {
        store.watch(null);
        if (snapshot != null) {
            snapshot.stop();
        }
        if (writer != null) {
            writer.close();
        }
        writer = null;
        snapshot = null;
    }

    /** Abandons the checkpoint. Shard 0 then withdraws the request; any other shard reports the failure to shard 0. */
    private void fail(IOException reason) {
        if (!reason.toString().equals(lastFailure)) {
            LOG.error(
                "shard {} could not write a checkpoint in {}; training continues, and the shard tries again at the next"
                    + " checkpoint: {}",
                facts.shard(), state.path(), reason.toString());
        }
        lastFailure = reason.toString();
        drop();
        status = status.failed(reason.toString(), requests == null ? 0 : requests.covered());
        if (folder != null) {
            unreported = new FailedCheckpoint(folder, facts.shard(), facts.shards(), reason.toString());
            report();
        }
        if (requests != null) {
            requests.postpone();
        }
    }

    private void report() {
        if (unreported.report()) {
            unreported = null;
            // Shard 0 has just deleted the folder. Any other shard remembers the folder until shard 0 has deleted it.
            folder = requests == null ? folder : null;
        }
    }

    /**
     * Saves the shard before it stops. In bsp, the shard completes the round of the last checkpoint with its learners, and later
     * pushes wait. In the other modes, the learners are disconnected first, so no acknowledged push is lost.
     *
     * <p>Waits until all shards have written the checkpoint. If no shard makes progress with the checkpoint for 10 s, the
     * checkpoint is abandoned. A shard that later starts from the previous checkpoint has a new {@link #history}.
     *
     * @param disconnect disconnects all learners; may be called twice
     */
    public void saveLast(Runnable disconnect) throws InterruptedException {
        if (!inRounds) {
            disconnect.run();
        }
        stop.advanced();
        boolean complete = false;
        try {
            if (!goneBack && !stop.isSaved()) {
                stop.begin();
                thread.wake();
                stop.await(() -> goneBack);
            }
            disconnect.run();
            close();
            stop.advanced();
            AtomicReference<MembershipImage<Nexus>> image = new AtomicReference<>();
            learners.image(image::set);
            complete = stop.end(image.get(), learners.former());
        } catch (IOException e) {
            LOG.warn("the stop of the shard cannot be recorded in {}: {}", state.path(), e.toString());
        }
        stop.report(complete, status, log != null);
    }

    /** The time ({@link NanoClock}) of the last progress of {@link #saveLast}. The time stays the same while the disk hangs. */
    public long lastAdvanceNs() {
        return stop.lastAdvanceNs();
    }

    /** Stops the thread, and abandons an incomplete checkpoint, whose files stay if the current step takes longer than 5 s. */
    @Override
    public void close() {
        closing = true;
        Snapshot current = snapshot;
        if (current != null) {
            current.stop();
        }
        thread.close();
        if (thread.hasEnded()) {
            drop();
        }
    }
}
