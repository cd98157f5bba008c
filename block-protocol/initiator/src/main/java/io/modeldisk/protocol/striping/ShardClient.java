package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiCommand;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One shard: a session that observes, and a {@link ShardMembership} with a second session. A lost session is replaced by a new
 * one of the same nexus. Every login checks that the expected shard answers. Thread-safe.
 */
final class ShardClient implements AutoCloseable {
    private static final int PAGE_BYTES = 65536;
    /** The memory: a page that is asked for, the facts for the observer's and for the learner's login, the answer to JOIN. */
    private static final int OBSERVER_FACTS_OFFSET = PAGE_BYTES;
    private static final int LEARNER_FACTS_OFFSET = 2 * PAGE_BYTES;
    private static final int JOIN_OFFSET = 3 * PAGE_BYTES;
    private static final int SCRATCH_BYTES = JOIN_OFFSET + 4096;
    private static final long OBSERVER_ISID = 0x800000000000L;

    private final StripedModelContext context;
    private final ShardId id;
    private final Route route;
    private final DataMemory scratch;
    private final ControlCommands commands;
    private final ShardMembership membership;
    /** Guards the first page of the memory; taken before {@link #observing}. */
    private final Object page = new Object();
    /** Guards the observer. */
    private final Object observing = new Object();
    private IscsiSession observer;
    private volatile boolean closed;
    /** What shard 0 said when the model was connected; null before. */
    private volatile ModelFacts expected;

    ShardClient(StripedModelContext context, int index) throws IOException {
        this.context = context;
        this.id = new ShardId(index, ModelAddress.text(context.address().shards().get(index)));
        this.route = Route.choose(context.datamover(), context.address().shards().get(index),
            ModelFacts.TARGET_PREFIX + context.model(), context.socketDirectory(), context.digest() != Digest.NONE,
            context.iserConnections());
        this.scratch = allocate(SCRATCH_BYTES);
        this.commands = new ControlCommands(scratch);
        this.membership = new ShardMembership(this, commands, scratch, JOIN_OFFSET, context.learner(), context.clock());
    }

    /** The shard's number and address. */
    ShardId id() {
        return id;
    }

    /** The datamover that is used for this shard, and why. */
    Route route() {
        return route;
    }

    /** How the transfers with this shard are cut. */
    TransferSizes sizes() {
        return context.sizes(route.portal().datamover());
    }

    /** The learner's membership. */
    ShardMembership membership() {
        return membership;
    }

    /** Memory that this shard's sessions can move data to and from. */
    DataMemory allocate(long bytes) throws IOException {
        return route.portal().needsShareableMemory() ? DataMemory.allocateShareable(bytes) : DataMemory.allocate(bytes);
    }

    /** From now on every login must find this shard, of the model that shard 0 has described. */
    void expect(ModelFacts first) {
        expected = first;
    }

    /**
     * Logs in and checks that the expected shard answers.
     *
     * @throws ShardException if another shard or model answers at the address
     */
    IscsiSession logIn(long isid, String label) throws IOException {
        checkNotClosed();
        IscsiSession session = IscsiSession.login(context.session(id.index(), route)
            .initiator(context.initiatorName(), isid)
            .learner(label));
        try {
            if (expected != null) {
                int offset = isid == OBSERVER_ISID ? OBSERVER_FACTS_OFFSET : LEARNER_FACTS_OFFSET;
                ShardCheck.check(id, ModelFacts.fromJson(readPage(session, ModelFacts.VPD_PAGE, offset)), expected,
                    context.address().shards().size());
            }
            return session;
        } catch (IOException | RuntimeException e) {
            session.close();
            throw e;
        }
    }

    /** The session that observes. */
    IscsiSession observer() throws IOException {
        synchronized (observing) {
            checkNotClosed();
            if (observer == null || !observer.isOpen()) {
                if (observer != null) {
                    observer.close();
                }
                observer = logIn(OBSERVER_ISID, context.learner() + "(mount)");
            }
            return observer;
        }
    }

    private void checkNotClosed() throws ShardException {
        if (closed) {
            throw new ShardException(ShardException.Kind.CLOSED, id, id + ": the connection was closed by this side");
        }
    }

    /** The contents of a vendor-specific VPD page. */
    byte[] vpdPage(int code) throws IOException {
        synchronized (page) {
            return readPage(observer(), code, 0);
        }
    }

    private byte[] readPage(IscsiSession session, int code, int offset) throws IOException {
        byte[] inquiry = {(byte) ScsiCommand.INQUIRY.opcode(), 1, (byte) code, (byte) 0xFF, (byte) 0xFF, 0};
        if (!commands.run(session, inquiry, offset, PAGE_BYTES - 1, Cancellation.NONE)) {
            throw new ShardException(ShardException.Kind.BUSY, id, id + ": BUSY");
        }
        MemorySegment answer = scratch.slab(0).asSlice(offset, PAGE_BYTES);
        int length = Byte.toUnsignedInt(answer.get(ValueLayout.JAVA_BYTE, 2)) << 8
            | Byte.toUnsignedInt(answer.get(ValueLayout.JAVA_BYTE, 3));
        if (answer.get(ValueLayout.JAVA_BYTE, 1) != (byte) code || length > PAGE_BYTES - 5) {
            throw new ShardException(ShardException.Kind.WRONG_SHARD, id,
                id.address() + " has no VPD page %02Xh: it is not a shard of modeldisk".formatted(code));
        }
        return answer.asSlice(4, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** SYNCHRONIZE CACHE; sent again while the shard is BUSY because a round is open, for at most the wait timeout. */
    void synchronizeCache(IscsiSession session, Cancellation cancellation) throws IOException {
        byte[] cdb = {(byte) ScsiCommand.SYNCHRONIZE_CACHE_16.opcode()};
        NanoClock clock = context.clock();
        long deadlineNs = clock.nanoTime() + context.waitTimeoutNs();
        while (!commands.run(session, cdb, 0, 0, cancellation)) {
            if (clock.nanoTime() - deadlineNs > 0) {
                throw StripedTransfer.roundTimeout(id, context.waitTimeoutNs());
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        membership.leave();
        synchronized (observing) {
            if (observer != null) {
                observer.close();
                observer = null;
            }
        }
        // A thread that still reads a page fails, because its session is closed, and releases the page.
        synchronized (page) {
            scratch.close();
        }
    }
}
