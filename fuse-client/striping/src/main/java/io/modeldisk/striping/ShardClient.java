package io.modeldisk.striping;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.CheckpointCommand;
import io.modeldisk.protocol.dialect.HandOverCommand;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.KeepRoundCommand;
import io.modeldisk.protocol.dialect.LearningRateCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.protocol.dialect.PartitionCommand;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.dialect.TensorsCommand;
import io.modeldisk.protocol.dialect.VpdPage;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The sessions of one {@link StripedModel} with one shard. The learner's session carries the commands of a learner that has
 * joined; {@link ShardMembership} holds this session. The reader's session reads one version of the weights. The observer's
 * session carries all other commands, such as INQUIRY and reads of LUN 1. A new session of the same nexus replaces a lost one.
 * Each login goes to the process that serves the shard at that time. After {@link #expect}, every login checks that the target is
 * the expected shard. Thread-safe.
 */
final class ShardClient implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ShardClient.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    /** The memory for the parameter data of a command. */
    private static final int DATA_BYTES = 65536;
    /** The minimum queue depth of the observer's session: one command can wait for a new version while another command reads. */
    static final int MIN_OBSERVER_COMMANDS = 2;
    /** The last bits of the ISIDs of the learner's and the reader's session. In the observer's ISID, these bits are 0. */
    private static final int LEARNER = 1;
    private static final int READER = 2;

    private final StripedModelContext context;
    private final int index;
    private final DataMemory scratch;
    /**
     * The commands in the observer's session: {@code awaiting} is for AWAIT VERSION with a wait, {@code asking} is for AWAIT
     * VERSION without a wait, and {@code observing} is for all other commands. Each of the three has its own memory.
     */
    private final ControlCommands observing;
    private final ControlCommands awaiting;
    private final ControlCommands asking;
    /** The commands in the learner's session ({@code learning}) and in the version reader's session ({@code reading}). */
    private final ControlCommands learning;
    private final ControlCommands reading;
    private final Line observer;
    private final Line versionReader;
    private final ShardMembership membership;
    /** The sessions that might still be open, each with the place to which it is connected. */
    private final Map<IscsiSession, Place> sessions = new ConcurrentHashMap<>();
    /** True if the process that served the shard has announced that it stops, and no login has succeeded since then. */
    private final AtomicBoolean stopped = new AtomicBoolean();
    private volatile Place place;
    private volatile boolean closed;
    /** The facts that shard 0 reported; null until shard 0 has reported its facts. */
    private volatile ModelFacts expected;

    /** The process that serves the shard, and the route to this process. */
    private record Place(InetSocketAddress portal, ShardId id, Route route) {}

    ShardClient(StripedModelContext context, int index) throws IOException {
        this.context = context;
        this.index = index;
        InetSocketAddress portal = context.locator.portal(index);
        this.place = new Place(portal, id(portal), route(context.datamover, portal));
        this.scratch = DataMemory.allocateShareable(5 * DATA_BYTES);
        this.observing = new ControlCommands(scratch, 0);
        this.awaiting = new ControlCommands(scratch, DATA_BYTES);
        this.asking = new ControlCommands(scratch, 2 * DATA_BYTES);
        this.learning = new ControlCommands(scratch, 3 * DATA_BYTES);
        this.reading = new ControlCommands(scratch, 4 * DATA_BYTES);
        long isid = Isid.random();
        this.observer = new Line(isid, context.observer(), observing);
        this.versionReader = new Line(isid | READER, context.learner + "(reader)", reading);
        this.membership = new ShardMembership(this, context.learner, isid | LEARNER);
    }

    /** A session that is opened when it is needed, and replaced by a new one after it was lost. */
    private final class Line {
        private final long isid;
        private final String label;
        private final ControlCommands commands;
        private volatile IscsiSession session;

        Line(long isid, String label, ControlCommands commands) {
            this.isid = isid;
            this.label = label;
            this.commands = commands;
        }

        /** Returns the session. Logs in if it is not open. After a login for reads, checks that the target serves its LUNs. */
        synchronized IscsiSession session(boolean reads) throws IOException {
            checkNotClosed();
            if (session == null || !session.isOpen()) {
                close();
                session = logIn(isid, label, commands);
                if (reads) {
                    byte[] testUnitReady = {(byte) ScsiCommand.TEST_UNIT_READY.opcode()};
                    run("TEST UNIT READY", commands, session, testUnitReady, 0, Cancellation.NONE);
                }
            }
            return session;
        }

        void flush() {
            IscsiSession open = session;
            if (open != null) {
                open.flush();
            }
        }

        synchronized void close() {
            if (session != null) {
                session.close();
                session = null;
            }
        }
    }

    private ShardId id(InetSocketAddress portal) {
        return new ShardId(index, TargetAddress.text(portal));
    }

    private Route route(Route.Preference preference, InetSocketAddress portal) {
        return Route.choose(preference, portal, ModelFacts.TARGET_PREFIX + context.locator.model(),
            context.socketDirectory,
            context.sessions.dataDigest() != Digest.NONE, context.iserConnections);
    }

    /** Returns the place at which the shard is served now. */
    private synchronized Place locate() throws ShardException {
        InetSocketAddress portal = context.locator.portal(index);
        if (!portal.equals(place.portal())) {
            LOG.warn("{} has moved to {}", place.id(), TargetAddress.text(portal));
            Route route = route(context.datamover, portal);
            if (context.datamover == Route.Preference.AUTO && !accepts(place.route(), route)) {
                route = new Route(route(Route.Preference.TCP, portal).portal(),
                    "the memory of this process was allocated for "
                        + place.route().portal().datamover() + ", from which the shard has moved");
            }
            place = new Place(portal, id(portal), route);
        }
        return place;
    }

    /** Returns whether memory that was allocated for a route can be used with another route. */
    private static boolean accepts(Route allocated, Route other) {
        return (!other.portal().needsShareableMemory() || allocated.portal().needsShareableMemory())
            && (!other.portal().needsPreparedMemory() || allocated.portal().needsPreparedMemory());
    }

    /** Closes the connections with a process that no longer serves the shard, so no call waits for it. Does not block. */
    void moved() {
        ThreadName.SHARD_MOVED.builder(place.id().index()).start(() -> {
            try {
                Place now = locate();
                sessions.forEach((session, at) -> {
                    if (at != now) {
                        session.disconnect();
                    }
                });
            } catch (ShardException e) {
                LOG.debug("{} is not served at this moment: {}", place.id(), e.getMessage());
            }
        });
    }

    /** The number and address of the shard. */
    ShardId id() {
        return place.id();
    }

    /** The datamover for this shard, and the reason for the choice. */
    Route route() {
        return place.route();
    }

    /** The transfer sizes for this shard. */
    TransferSizes sizes() {
        return context.sizes(route());
    }

    /** The learner's membership of this shard. */
    ShardMembership membership() {
        return membership;
    }

    /** Sets the facts of shard 0. Every later login checks that the target is the expected shard of the same model. */
    void expect(ModelFacts first) {
        expected = first;
    }

    /**
     * Logs in as the learner, checks that the target is the expected shard, and returns the session.
     *
     * @throws ShardException if the target is another shard or belongs to another model
     */
    IscsiSession logIn(long isid, String label) throws IOException {
        return logIn(isid, label, learning);
    }

    private IscsiSession logIn(long isid, String label, ControlCommands commands) throws IOException {
        checkNotClosed();
        Place now = locate();
        SessionContext settings = context.session(index, now.portal(), now.route())
            .initiator(context.initiatorName(), isid)
            .learner(label)
            .onFarewell(this::stops);
        if (commands == observing) {
            settings.queueDepth(
                Math.max(MIN_OBSERVER_COMMANDS, context.sizes(now.route()).queueDepth()));
        }
        IscsiSession session = IscsiSession.login(settings);
        sessions.keySet().removeIf(old -> !old.isOpen());
        sessions.put(session, now);
        try {
            if (now != place) {
                throw new ShardException(ShardException.Kind.PATH_LOST, now.id(),
                    now.id() + " has moved during the login");
            }
            if (expected != null) {
                ShardCheck.checkAgain(now.id(),
                    ModelFacts.fromJson(readPage(commands, session, ModelFacts.VPD_PAGE)),
                    expected,
                    context.locator.shardCount());
            }
            if (stopped.compareAndSet(true, false)) {
                LOG.warn("{} serves again", now.id());
            }
            return session;
        } catch (IOException | RuntimeException e) {
            session.close();
            throw e;
        }
    }

    /** Logs that the process that serves the shard stops. Logs this only once, although every session calls this method. */
    private void stops() {
        if (!closed && stopped.compareAndSet(false, true)) {
            LOG.warn("{} stops; calls wait until it serves again, at most {} ms", id(),
                context.reconnectTimeout.toMillis());
        }
    }

    /** Returns the session that reads one version of the weights. Logs in if the session is not open. */
    IscsiSession versionReader() throws IOException {
        return versionReader.session(false);
    }

    /** Returns the observer's session. Logs in if the session is not open. */
    IscsiSession observer() throws IOException {
        return observer.session(false);
    }

    /**
     * Returns the observer's session for reads and writes. Logs in if the session is not open, and then checks that the target
     * serves its logical units at this address, because a standby accepts logins too.
     */
    IscsiSession reader() throws IOException {
        return observer.session(true);
    }

    private void checkNotClosed() throws ShardException {
        if (closed) {
            throw new ShardException(ShardException.Kind.CLOSED, id(), id() + ": the caller has closed the model");
        }
    }

    /** Sends the commands that the sessions hold back. */
    void flush() {
        IscsiSession learner = membership.session();
        if (learner != null) {
            learner.flush();
        }
        observer.flush();
        versionReader.flush();
    }

    /** Returns the contents of a vendor-specific VPD page. */
    byte[] vpdPage(int code) throws IOException {
        return readPage(observing, observer(), code);
    }

    /** Returns the host address of a live learner, as the shard reports it; null if the shard has no such learner. */
    String hostOf(String label) throws IOException {
        for (JsonNode learner : JSON.readTree(vpdPage(ModelFacts.STATUS_VPD_PAGE)).path("learners")) {
            if (learner.path("learner").asText().equalsIgnoreCase(label)
                && learner.path("state").asText().equals("live")) {
                return learner.path("host").asText("another process");
            }
        }
        return null;
    }

    /** Requests a checkpoint. Returns the number of the request, which the shard's status shows when the request is answered. */
    long requestCheckpoint() throws IOException {
        return CheckpointCommand.request(run("CHECKPOINT", observing, observer(), CheckpointCommand.cdb(),
            CheckpointCommand.DATA_BYTES, Cancellation.NONE));
    }

    /** Makes the shard count a gradient that was refused because of NaN or infinity. */
    void countNonFinite(IscsiSession session, long round) throws IOException {
        learning.run(session, AbsentCommand.countNonFinite(round), 0, Cancellation.NONE);
    }

    /**
     * Sends LEARNING RATE.
     *
     * @param rate the new rate from this round on; 0 to leave the rate unchanged
     * @return the learning rate of the round
     */
    float learningRate(long round, float rate) throws IOException {
        return LearningRateCommand.rate(run("LEARNING RATE", observing, observer(),
            LearningRateCommand.cdb(round, rate), LearningRateCommand.DATA_BYTES, Cancellation.NONE));
    }

    /** Sends KEEP ROUND for a range of blocks of the shard. */
    KeepRoundCommand.Answer keepRound(
        KeepRoundCommand.Service service, int firstBlock, int blocks, long round, Cancellation cancellation)
        throws IOException {
        return KeepRoundCommand.Answer.fromBytes(run("KEEP ROUND", reading, versionReader(),
            KeepRoundCommand.cdb(service, firstBlock, blocks, round), KeepRoundCommand.DATA_BYTES, cancellation));
    }

    /** Returns the names and shapes of the tensors of the model. */
    byte[] tensors() throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        long total = Long.MAX_VALUE;
        while (text.size() < total) {
            ByteBuffer answer = ByteBuffer.wrap(run("TENSORS", observing, observer(),
                TensorsCommand.cdb(text.size()), TensorsCommand.DATA_BYTES, Cancellation.NONE));
            total = answer.getLong();
            if (total <= 0 || total > TensorsCommand.MAX_TEXT_BYTES) {
                throw new ShardException(ShardException.Kind.WRONG_SHARD, id(),
                    id() + ": TENSORS returned " + total + " as the length of the text, which is not valid");
            }
            byte[] part = new byte[(int) Math.min(TensorsCommand.PART_BYTES, total - text.size())];
            answer.get(part);
            text.write(part);
        }
        return text.toByteArray();
    }

    /** Requests that the shard hand over to a backup, which then becomes the primary. */
    void requestHandOver() throws IOException {
        run("HAND OVER", observing, observer(), HandOverCommand.cdb(), 0, Cancellation.NONE);
    }

    /** Sends JOIN in the learner's session. */
    JoinCommand.Answer join(IscsiSession session, long earliestRound, boolean anew) throws IOException {
        return JoinCommand.answer(run("JOIN", learning, session, JoinCommand.cdb(earliestRound, anew),
            JoinCommand.DATA_BYTES, Cancellation.NONE));
    }

    /** Sends a command and returns its parameter data. */
    private byte[] run(String name, ControlCommands commands, IscsiSession session, byte[] cdb, int bytes,
        Cancellation cancellation) throws IOException {
        byte[] data = commands.run(session, cdb, bytes, cancellation);
        if (data == null) {
            throw new ShardException(ShardException.Kind.BUSY, id(), id() + ": " + name + " failed with BUSY");
        }
        return data;
    }

    private byte[] readPage(ControlCommands commands, IscsiSession session, int code) throws IOException {
        byte[] content = VpdPage.content(code,
            run("INQUIRY", commands, session, VpdPage.cdb(code), VpdPage.DATA_BYTES, Cancellation.NONE));
        if (content == null) {
            throw new ShardException(ShardException.Kind.WRONG_SHARD, id(),
                id().address()
                    + PlainText.format(" is not a shard of modeldisk: the target has no VPD page %02Xh", code));
        }
        return content;
    }

    /** Sends PARTITION. Returns the part of the training data that belongs to the nexus of the session in a round. */
    Partition partition(IscsiSession session, long round, Cancellation cancellation) throws IOException {
        return PartitionCommand.partition(round, run("PARTITION", learning, session, PartitionCommand.cdb(round),
            PartitionCommand.DATA_BYTES, cancellation));
    }

    /**
     * Sends AWAIT VERSION. Returns the counters if the version of the shard differs from {@code known}; null if it was the same
     * for some seconds.
     */
    ShardCounters awaitVersion(long known, Cancellation cancellation) throws IOException {
        // Another process might serve the shard now, so the session is checked as for a read.
        IscsiSession session = reader();
        boolean waits = known != AwaitCommand.NONE;
        byte[] data = (waits ? awaiting : asking).run(session, AwaitCommand.cdb(known), ShardCounters.BYTES,
            cancellation);
        if (data == null && !waits) {
            throw new ShardException(ShardException.Kind.BUSY, id(), id() + ": AWAIT VERSION failed with BUSY");
        }
        return data == null ? null : ShardCounters.fromBytes(data);
    }

    /** Sends SYNCHRONIZE CACHE. Repeats it while the shard is BUSY because of an open round, for at most the wait timeout. */
    void synchronizeCache(IscsiSession session, Cancellation cancellation) throws IOException {
        byte[] cdb = {(byte) ScsiCommand.SYNCHRONIZE_CACHE_16.opcode()};
        NanoClock clock = context.clock();
        long deadlineNs = clock.nanoTime() + context.waitTimeout.toNanos();
        while (learning.run(session, cdb, 0, cancellation) == null) {
            if (clock.nanoTime() - deadlineNs > 0) {
                throw PartRounds.roundTimeout(id(), context.waitTimeout.toNanos());
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        membership.leave();
        observer.close();
        versionReader.close();
        // Waits for other threads that still wait for the data of a command. Their commands fail, as the sessions are closed.
        List.of(observing, awaiting, asking, learning, reading).forEach(ControlCommands::close);
        scratch.close();
    }
}
