package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiCommand;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One shard: a session to look on with, and while its user is a learner another one to learn with. A lost session is replaced
 * by a new one of the same nexus. Thread-safe.
 *
 * <p>The learner's session serves only when it has said JOIN and its user has taken note of the answer ({@link #agreed}): the
 * shard may have forgotten the learner meanwhile.
 */
final class ShardClient implements AutoCloseable {
    private static final int PAGE_BYTES = 65536;
    private static final int JOIN_OFFSET = PAGE_BYTES;
    private static final int SCRATCH_BYTES = JOIN_OFFSET + 4096;
    private static final long CHECK_MILLIS = 5;
    /** How often a command is sent again for unit attentions and aborts by others before it fails. */
    private static final int MAX_ATTENTIONS = 8;
    private static final String BUSY = ScsiStatus.describe(ScsiStatus.BUSY);
    private static final long OBSERVER_ISID = 0x800000000000L;
    private static final long LEARNER_ISID = 0x800000010000L;

    private final StripedModel.Context context;
    private final InetSocketAddress portal;
    private final Route route;
    /** A page, guarded by its own lock, and the answer to JOIN. */
    private final DataMemory scratch;
    private final Object page = new Object();
    /** What is asked for on the side keeps no push from its session: the learner's has another lock, which is taken first. */
    private final Object observing = new Object();
    private IscsiSession observer;
    private boolean closed;
    private IscsiSession learner;
    /** What the shard has answered last, null before; and the membership that its user knows of, 0 for none. */
    private JoinCommand.Answer answer;
    private long membership;
    private boolean agreed;

    ShardClient(StripedModel.Context context, InetSocketAddress portal) throws IOException {
        this.context = context;
        this.portal = portal;
        this.route = Route.choose(context.datamover(), portal, ModelFacts.TARGET_PREFIX + context.model(),
            context.socketDirectory(), context.digest() != Digest.NONE, context.iserConnections());
        this.scratch = allocate(SCRATCH_BYTES);
    }

    /** The datamover that is used for this shard, and why. */
    Route route() {
        return route;
    }

    /** How what goes over it is cut. */
    TransferSizes sizes() {
        return context.sizes(route.portal().datamover());
    }

    /** Memory that this shard's sessions can move data to and from. */
    DataMemory allocate(long bytes) throws IOException {
        return route.portal().needsShareableMemory() ? DataMemory.allocateShareable(bytes) : DataMemory.allocate(bytes);
    }

    String address() {
        return ModelAddress.text(portal);
    }

    private IscsiSession login(long isid, String label) throws IOException {
        return IscsiSession.login(new SessionContext()
            .portal(portal)
            .over(route.portal())
            .targetName(ModelFacts.TARGET_PREFIX + context.model())
            .initiator(context.initiatorName(), isid)
            .learner(label)
            .secrets(context.secrets())
            .queueDepth(sizes().queueDepth())
            .eagerBytes(sizes().eagerBytes())
            .digests(context.digest(), context.digest())
            .connectTimeoutMillis(context.connectTimeoutMillis())
            .commandTimeoutMillis(context.commandTimeoutMillis()));
    }

    /** The session that looks on. */
    IscsiSession observer() throws IOException {
        synchronized (observing) {
            checkNotClosed();
            if (observer == null || !observer.isOpen()) {
                observer = replace(observer, OBSERVER_ISID, context.learner() + "(mount)");
            }
            return observer;
        }
    }

    private void checkNotClosed() throws RefusedException {
        if (closed) {
            throw new RefusedException("shard " + address() + ": the connection was closed by this side");
        }
    }

    private IscsiSession replace(IscsiSession lost, long isid, String label) throws IOException {
        if (lost != null) {
            lost.close();
        }
        return login(isid, label);
    }

    /** The learner's session; null if there is none that is open and agreed on. */
    synchronized IscsiSession learner() {
        return agreed && learner.isOpen() ? learner : null;
    }

    /** Becomes a learner, unless an earlier try has made it one. */
    synchronized void joinFirst() throws IOException {
        if (answer == null) {
            // A learner of the same name that died is another one: nothing of it must be taken for this one's.
            join(0, true);
        } else if (!learner.isOpen()) {
            join(0, false);
        }
    }

    /** Becomes a learner at this round or later, or still is one, on a new connection if the old one is lost. */
    synchronized void join(long earliestRound) throws IOException {
        join(earliestRound, false);
    }

    private void join(long earliestRound, boolean anew) throws IOException {
        checkNotClosed();
        if (learner == null || !learner.isOpen()) {
            agreed = false;
            learner = replace(learner, LEARNER_ISID, context.learner());
        }
        if (!run(learner, JoinCommand.cdb(earliestRound, anew), JOIN_OFFSET, JoinCommand.DATA_BYTES,
            Cancellation.NONE)) {
            throw new IOException("shard " + address() + ": " + BUSY);
        }
        answer = JoinCommand
            .answer(scratch.slab(0).asSlice(JOIN_OFFSET, JoinCommand.DATA_BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    /** The round that the shard has answered last. */
    synchronized long joinRound() {
        return answer.joinRound();
    }

    /** Whether the shard has answered with another membership than the one agreed on. */
    synchronized boolean isNewcomer() {
        return answer.membership() != membership;
    }

    /** Its user has taken note of the answer. */
    synchronized void agreed() {
        membership = answer.membership();
        agreed = true;
    }

    synchronized void leave() {
        agreed = false;
        answer = null;
        membership = 0;
        if (learner != null) {
            learner.close();
            learner = null;
        }
    }

    /** The contents of a vendor-specific VPD page. */
    byte[] vitalPage(int code) throws IOException {
        byte[] inquiry = {(byte) ScsiCommand.INQUIRY.opcode(), 1, (byte) code, (byte) 0xFF, (byte) 0xFF, 0};
        synchronized (page) {
            if (!run(observer(), inquiry, 0, PAGE_BYTES - 1, Cancellation.NONE)) {
                throw new IOException("shard " + address() + ": " + BUSY);
            }
            MemorySegment answered = scratch.slab(0);
            int length = Short.toUnsignedInt(answered.get(ValueLayout.JAVA_SHORT, 2));
            length = (length & 0xFF) << 8 | length >> 8;
            if (answered.get(ValueLayout.JAVA_BYTE, 1) != (byte) code || length > PAGE_BYTES - 5) {
                throw new IOException(
                    address() + " has no VPD page %02Xh: it is no shard of modeldisk".formatted(code));
            }
            return answered.asSlice(4, length).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** SYNCHRONIZE CACHE; tried again while the shard is BUSY, waiting for a round. */
    void synchronizeCache(IscsiSession session, Cancellation cancellation) throws IOException {
        byte[] cdb = new byte[16];
        cdb[0] = (byte) ScsiCommand.SYNCHRONIZE_CACHE_16.opcode();
        long begun = System.nanoTime();
        long limit = TimeUnit.MILLISECONDS.toNanos(context.waitTimeoutMillis());
        while (!run(session, cdb, 0, 0, cancellation)) {
            if (System.nanoTime() - begun > limit) {
                throw new RefusedException("shard " + address() + " has waited for a round for "
                    + TimeUnit.NANOSECONDS.toSeconds(limit)
                    + " s: other learners have not pushed it (`modeldisk status` "
                    + "says who)");
            }
        }
    }

    /** How a command ended. */
    private record End(boolean good, boolean busy, boolean lost, boolean toBeRetried, String words) {
        static End of(IoRequest request) {
            return new End(request.isGood(), request.status() == ScsiStatus.BUSY, request.failure() != null,
                request.isToBeRetried(), request.isGood() ? "" : request.describeEnd());
        }
    }

    /**
     * Runs a command to its end, again if the shard has news instead of an answer; answers false if the shard is BUSY.
     *
     * @throws RefusedException if the shard says no
     */
    private boolean run(IscsiSession session, byte[] cdb, int offset, int bytes, Cancellation cancellation)
        throws IOException {
        End end = runOnce(session, cdb, offset, bytes, cancellation);
        for (int i = 0; i < MAX_ATTENTIONS && end.toBeRetried() && !end.busy(); i++) {
            end = runOnce(session, cdb, offset, bytes, cancellation);
        }
        if (!end.good() && !end.busy()) {
            String words = "shard " + address() + ": " + end.words();
            throw end.lost() || end.toBeRetried() ? new IOException(words) : new RefusedException(words);
        }
        return end.good();
    }

    private End runOnce(IscsiSession session, byte[] cdb, int offset, int bytes, Cancellation cancellation)
        throws IOException {
        IoRequest request = session.acquire(TimeUnit.MILLISECONDS.toNanos(context.commandTimeoutMillis()));
        if (request == null) {
            throw new IOException(
                "shard " + address() + " has ended no command for " + context.commandTimeoutMillis() + " ms");
        }
        CompletableFuture<End> end = new CompletableFuture<>();
        request.control(0, Arrays.copyOf(cdb, 16), scratch, offset, bytes)
            .onCompletion(done -> end.complete(End.of(done)));
        int tag = request.initiatorTaskTag();
        session.submit(request);
        try {
            return await(end, session, request, tag, cancellation);
        } catch (InterruptedException e) {
            session.disconnect();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (TimeoutException e) {
            // Not a logout: it has not left, and may be able to go on.
            session.disconnect();
            throw new IOException(
                "shard " + address() + " does not answer within " + context.commandTimeoutMillis() + " ms", e);
        }
    }

    private End await(
        CompletableFuture<End> end, IscsiSession session, IoRequest request, int tag, Cancellation cancellation)
        throws IOException, InterruptedException, ExecutionException, TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(context.commandTimeoutMillis());
        while (true) {
            try {
                return end.get(CHECK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                if (cancellation.isCancelled()) {
                    session.abort(request, tag);
                    throw new CancelledException();
                }
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    @Override
    public synchronized void close() {
        leave();
        synchronized (observing) {
            closed = true;
            if (observer != null) {
                observer.close();
                observer = null;
            }
        }
        // Its session is closed: whoever still asks for a page is about to be told so.
        synchronized (page) {
            scratch.close();
        }
    }
}
