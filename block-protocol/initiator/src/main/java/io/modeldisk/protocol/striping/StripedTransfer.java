package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * One call that moves a range: cuts it into parts of one command each, keeps commands in flight on every shard, and sends a part
 * again when a shard is BUSY or its connection was lost. Reused for one call after another; one thread runs it, the sessions'
 * receiving threads report to it.
 *
 * <p>A part of a push that is sent again keeps its round, so that the shard recognizes it. That holds as long as the shard knows
 * the learner: if it has forgotten the learner, it is unknown whether the parts in flight were applied, and the call fails.
 */
final class StripedTransfer {
    /** Where the sessions come from. */
    interface Sessions {
        /** The session with a shard that serves this direction; connects once if it is not open. */
        IscsiSession session(int shard, Direction direction) throws IOException;

        /** The name of a shard in messages. */
        ShardId id(int shard);
    }

    /**
     * The timeouts of one call.
     *
     * @param waitNs how long the call may make no progress because shards are BUSY: other learners have not pushed their rounds
     * @param reconnectNs how long a lost shard may be away
     * @param endNs how long a failed call waits until no command of it is in flight
     */
    record Timeouts(long waitNs, long reconnectNs, long endNs) {}

    private static final long BUSY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Striping striping;
    private final Sessions source;
    private final Timeouts timeouts;
    private final boolean checksGradients;
    private final NanoClock clock;
    private final Reconnection reconnection;
    private final PartRounds rounds = new PartRounds();
    private final IoRequest.Completion completion = this::completed;
    private final Cancellation.Waiter waiter = this::wake;
    private final BooleanSupplier stop = this::isStopped;
    private final IscsiSession[] sessions;
    private final PartQueue parts;

    // Set by the running thread before any command is in flight.
    private Direction direction;
    private DataMemory memory;
    private long start;
    private long memoryStart;
    private long length;
    private Cancellation cancellation;

    /** The first failure; null while there is none. */
    private final AtomicReference<IOException> failure = new AtomicReference<>();
    /** The session in which the running thread waits for a request; null if it does not wait there. */
    private volatile IscsiSession acquiring;
    /** Whether sessions may hold commands back, to send them with the next. For the running thread. */
    private boolean unflushed;

    StripedTransfer(
        Striping striping, int queueDepth, Sessions source, Timeouts timeouts, boolean checksGradients,
        NanoClock clock) {
        this.checksGradients = checksGradients;
        this.striping = striping;
        this.source = source;
        this.timeouts = timeouts;
        this.clock = clock;
        this.reconnection = new Reconnection(clock, timeouts.reconnectNs());
        this.sessions = new IscsiSession[striping.shards()];
        this.parts = new PartQueue(striping.shards(), queueDepth, clock, rounds, this::partBytes);
    }

    /**
     * Moves a range.
     *
     * @param ledger the learner's account for a pull or a push; null for a call that is not a learner's
     * @throws ShardException if a shard has refused a part, or was away for too long
     * @throws io.modeldisk.platform.cancellation.CancelledException if the call was cancelled
     */
    void run(
        Direction way, long offset, DataMemory data, long memoryOffset, long bytes, Cancellation cancelled,
        PushLedger ledger) throws IOException {
        direction = way;
        memory = data;
        start = offset;
        memoryStart = memoryOffset;
        length = bytes;
        cancellation = cancelled;
        rounds.begin(direction, start, length, ledger);
        parts.begin(length);
        failure.set(null);
        reconnection.succeeded();
        cancellation.register(waiter);
        try {
            moveAll();
        } catch (IOException e) {
            fail(e);
        } catch (RuntimeException | Error e) {
            fail(new IOException(e));
            finish();
            throw e;
        } finally {
            cancellation.unregister(waiter);
        }
        IOException reason = failure.get();
        if (reason != null) {
            finish();
            throw reason;
        }
    }

    private void moveAll() throws IOException {
        long seenMoved = 0;
        long deadlineNs = clock.nanoTime() + timeouts.waitNs();
        while (true) {
            checkNotFailed();
            Part part = parts.next();
            if (part != null) {
                issue(part);
                continue;
            }
            flush();
            if (parts.isDone()) {
                return;
            }
            long movedNow = awaitChange(deadlineNs);
            cancellation.check();
            long nowNs = clock.nanoTime();
            if (movedNow != seenMoved) {
                seenMoved = movedNow;
                deadlineNs = nowNs + timeouts.waitNs();
            } else if (nowNs - deadlineNs >= 0) {
                throw roundTimeout(source.id(striping.shard(start)), timeouts.waitNs());
            }
        }
    }

    static ShardException roundTimeout(ShardId shard, long waitNs) {
        return new ShardException(ShardException.Kind.ROUND_TIMEOUT, shard, shard + ": waited for a round for "
            + TimeUnit.NANOSECONDS.toSeconds(waitNs)
            + " s: other learners have not pushed it (`modeldisk status` names them)");
    }

    private int partBytes(long part) {
        long contiguous = Math.min(length - part, striping.contiguousBytes(start + part));
        return (int) Math.min(contiguous, memory.bytesLeftInSlab(memoryStart + part));
    }

    /** Whether no command of the last call is in flight any more. */
    boolean isIdle() {
        return parts.isIdle();
    }

    private void checkNotFailed() throws IOException {
        IOException reason = failure.get();
        if (reason != null) {
            throw reason;
        }
    }

    private boolean isStopped() {
        return failure.get() != null || cancellation.isCancelled();
    }

    /** Waits until there is something to send or to report; answers how many parts have been moved. */
    private long awaitChange(long deadlineNs) throws IOException {
        try {
            return parts.await(deadlineNs, stop);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the shards");
        }
    }

    /** The call was cancelled or has failed: wakes the running thread, in this class or in a session. */
    private void wake() {
        parts.wake();
        IscsiSession session = acquiring;
        if (session != null) {
            session.wakeAcquirers();
        }
    }

    private void issue(Part part) throws IOException {
        SendOutcome outcome = SendOutcome.SESSION_LOST;
        try {
            outcome = send(part);
        } finally {
            if (outcome != SendOutcome.SENT) {
                parts.sendLater(part, outcome == SendOutcome.SESSION_LOST ? 0 : BUSY_PAUSE_NS);
            }
        }
    }

    private SendOutcome send(Part part) throws IOException {
        int shard = striping.shard(start + part.offset);
        IscsiSession session = session(shard);
        int bytes = rounds.settle(part, shard, session.shard());
        if (bytes == 0) {
            return SendOutcome.ROUND_PENDING;
        }
        shorten(part, bytes);
        IoRequest request = acquire(session);
        if (request == null) {
            return SendOutcome.SESSION_LOST;
        }
        fill(request, part);
        sessions[shard] = session;
        if (!parts.addInFlight(part, shard, session, request)) {
            session.release(request);
            return SendOutcome.SLOT_PENDING;
        }
        SendOutcome outcome = SendOutcome.SESSION_LOST;
        try {
            session.submit(request, true);
            unflushed = true;
            outcome = SendOutcome.SENT;
        } catch (ShardException e) {
            // The next try finds another session.
            outcome = SendOutcome.SESSION_LOST;
        } finally {
            if (outcome != SendOutcome.SENT) {
                parts.removeInFlight(shard, request);
            }
        }
        return outcome;
    }

    /** Sends the commands that sessions have kept back, before the running thread waits. */
    private void flush() {
        if (unflushed) {
            unflushed = false;
            for (IscsiSession session : sessions) {
                if (session != null) {
                    session.flush();
                }
            }
        }
    }

    private void fill(IoRequest request, Part part) {
        long lba = striping.offsetOnShard(start + part.offset) / LogicalBlock.BYTES;
        int blocks = part.bytes / LogicalBlock.BYTES;
        long at = memoryStart + part.offset;
        long round = rounds.of(part);
        switch (direction) {
            case PULL -> request.pull(direction.lun(), lba, blocks, round, memory, at, part.bytes);
            case PUSH -> request.push(direction.lun(), lba, blocks, round, memory, at, part.bytes, checksGradients);
            case READ -> request.read(direction.lun(), lba, blocks, memory, at, part.bytes);
            case WRITE -> request.write(direction.lun(), lba, blocks, memory, at, part.bytes);
        }
        request.onCompletion(completion);
    }

    /** An open session; connects again for as long as the reconnect timeout allows. */
    private IscsiSession session(int shard) throws IOException {
        while (true) {
            if (sessions[shard] == null || !sessions[shard].isOpen()) {
                flush();
            }
            try {
                IscsiSession session = source.session(shard, direction);
                reconnection.succeeded();
                return session;
            } catch (IOException e) {
                reconnection.failed(e, cancellation);
            }
        }
    }

    /** Leaves the rest of a part to a later one. */
    private void shorten(Part part, int bytes) throws ShardException {
        if (!parts.shorten(part, bytes)) {
            ShardId shard = source.id(striping.shard(start + part.offset));
            throw new ShardException(ShardException.Kind.LEARNER_FORGOTTEN, shard, shard + ": the blocks at byte "
                + (start + part.offset) + " were moved by another call while the shard forgot this learner");
        }
    }

    /** A request for a command; null if the session is lost. */
    private IoRequest acquire(IscsiSession session) throws IOException {
        try {
            IoRequest request = session.tryAcquire();
            if (request != null) {
                return request;
            }
            flush();
            acquiring = session;
            request = session.acquire(stop);
            if (request != null) {
                return request;
            }
        } catch (ShardException e) {
            return null;
        } finally {
            acquiring = null;
        }
        cancellation.check();
        checkNotFailed();
        return null;
    }

    private void completed(IoRequest request) {
        long offset = start + request.memoryOffset() - memoryStart;
        int shard = striping.shard(offset);
        if (request.isGood()) {
            parts.moved(shard, request);
        } else if (failure.get() == null && request.failure() != null) {
            parts.lost(shard, request);
        } else if (failure.get() == null && request.isToBeRetried()) {
            parts.refused(shard, request, BUSY_PAUSE_NS);
        } else {
            fail(request.exception(source.id(shard),
                (direction.writes() ? "writing" : "reading") + " at byte " + offset));
            parts.dropped(shard, request);
        }
        if (failure.get() != null) {
            wake();
        }
    }

    /** Keeps the first reason. */
    private void fail(IOException reason) {
        failure.compareAndSet(null, reason);
    }

    /** After a failure: makes sure that no command of this call touches the memory any more, and that it can be repeated. */
    private void finish() {
        // An interrupted thread that sends would close the connection, which serves other calls too.
        boolean interrupted = Thread.interrupted();
        flush();
        for (int index = 0; index < parts.capacity(); index++) {
            PartQueue.Carrier carrier = parts.carrier(index);
            if (carrier != null) {
                abort(carrier);
            }
        }
        interrupted |= parts.awaitLanded(timeouts.endNs());
        parts.endWaiting();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void abort(PartQueue.Carrier carrier) {
        try {
            carrier.session().abort(carrier.request(), carrier.tag());
        } catch (IOException e) {
            // The session is closed then, and ends the command itself.
            fail(e);
        }
    }
}
