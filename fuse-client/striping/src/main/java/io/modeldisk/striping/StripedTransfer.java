package io.modeldisk.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Moves the range of one call at a time, or marks the range as absent. Divides the range into parts, each of which one command
 * moves. Keeps commands in flight on every shard, and sends a part again when a shard is BUSY or the connection was lost. One
 * thread runs a call; the receiving threads of the sessions report the results. A call that was {@linkplain #start started} is
 * detached from its thread when all parts are in flight; see {@link CallState}. The object is used again for later calls.
 *
 * <p>A part of a push that is sent again keeps its round, so the shard recognizes the part. A shard that has forgotten the
 * learner cannot recognize the part. The call then fails, because it is unknown whether the parts in flight were applied.
 */
final class StripedTransfer {
    /** The source of the sessions that a transfer uses, one for each shard. */
    interface Sessions {
        /** Returns the session with a shard for transfers in this direction. Tries to connect once if the session is not open. */
        IscsiSession session(int shard, Direction direction) throws IOException;

        /** The number and address of a shard, for messages. */
        ShardId id(int shard);

        /** Sends the commands that all sessions of the model hold back. */
        void flush();
    }

    /**
     * The timeouts of one call.
     *
     * @param waitNs the maximum time without progress while shards are BUSY because other learners have not pushed their rounds
     * @param reconnectNs the maximum time to reach a lost shard again
     * @param endNs the maximum time that a failed call waits until none of its commands is in flight
     */
    record Timeouts(long waitNs, long reconnectNs, long endNs) {}

    private static final Logger LOG = LogManager.getLogger(StripedTransfer.class);
    /**
     * The number of model bytes for each byte of memory in a call that marks a range as absent. Each command of the call returns
     * 4 bytes, and might cover only one logical block of 4096 bytes.
     */
    static final int ABSENT_BYTES_PER_BYTE = LogicalBlock.BYTES / AbsentCommand.DATA_BYTES;
    private static final long BUSY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long SENT = -1;

    private final ValueType type;
    private final Striping trainStriping;
    private final Striping rawStriping;
    private final Sessions source;
    private final Timeouts timeouts;
    private final NanoClock clock;
    private final Reconnection reconnection;
    private final PartRounds rounds = new PartRounds();
    private final IoRequest.Completion completion = this::completed;
    private final Cancellation.Waiter waiter = this::wake;
    private final BooleanSupplier stop = this::isStopped;
    private final Arrivals arrivals;
    private final Consumer<StripedTransfer> ended;
    private final IscsiSession[] sessions;
    private final PartQueue parts;

    // The thread that runs the call sets these fields before any command is in flight.
    private Direction direction;
    private Striping striping;
    private DataMemory memory;
    private long start;
    private long memoryStart;
    private long length;
    private Cancellation cancellation;
    private RemoteModel.Completion completionOfCall;
    private volatile long deadlineNs;
    private long seenMoved;

    /** The first failure of the call; null if no failure has occurred. */
    private final AtomicReference<IOException> failure = new AtomicReference<>();
    /** The session in which the thread of the call waits for a request; null if the thread does not wait for a request. */
    private volatile IscsiSession acquiring;
    /** True if a session might still hold back a command. Used only by the thread that runs the call. */
    private boolean unflushed;

    /**
     * Creates a transfer.
     *
     * @param type the type of the weights and gradients of pulls and pushes; reads and writes move float32
     * @param trainStriping the distribution of the model in this type
     * @param rawStriping the distribution of the model in float32
     * @param arrivals records when the weights of pulls arrive
     * @param ended receives this transfer after the end of a call that was detached
     */
    StripedTransfer(
        ValueType type, Striping trainStriping, Striping rawStriping, int queueDepth, Sessions source,
        Timeouts timeouts, NanoClock clock, Arrivals arrivals, Consumer<StripedTransfer> ended) {
        this.arrivals = arrivals;
        this.ended = ended;
        this.type = type;
        this.trainStriping = trainStriping;
        this.rawStriping = rawStriping;
        this.striping = trainStriping;
        this.source = source;
        this.timeouts = timeouts;
        this.clock = clock;
        this.reconnection = new Reconnection(clock, timeouts.reconnectNs());
        this.sessions = new IscsiSession[trainStriping.shards()];
        this.parts = new PartQueue(trainStriping.shards(), queueDepth, clock, rounds, this::partBytes);
    }

    /**
     * Moves a range. If the call is detached, this method returns before the end of the call. At the end, the consumer
     * {@code ended} of the constructor receives this transfer, and then {@code whenEnded} is called once.
     *
     * @param ledger the learner's ledger for a pull or a push; null for a call that does not belong to a learner
     * @param whenEnded the handler of the end of a detached call; null if the call must not be detached
     * @return true if the call was detached, so the caller must not use the transfer any more; false if the range was moved
     * @throws ShardException if a shard has refused a part, or was lost for longer than the reconnect timeout
     * @throws io.modeldisk.platform.cancellation.CancelledException if the call was cancelled
     */
    boolean start(
        Direction way, long offset, DataMemory data, long memoryOffset, long bytes, Cancellation cancelled,
        PushLedger ledger, RemoteModel.Completion whenEnded) throws IOException {
        completionOfCall = whenEnded;
        // Commands of earlier calls of this thread might be held back, and this call might have to wait for these commands.
        unflushed = true;
        direction = way;
        striping = way.trains() ? trainStriping : rawStriping;
        memory = data;
        start = offset;
        memoryStart = memoryOffset;
        length = bytes;
        cancellation = cancelled;
        rounds.begin(direction, start, length, ledger);
        parts.begin(length);
        failure.set(null);
        reconnection.succeeded();
        deadlineNs = clock.nanoTime() + timeouts.waitNs();
        seenMoved = 0;
        cancellation.register(waiter);
        return moveParts(whenEnded != null);
    }

    /** Runs the call in this thread until it ends or, if {@code mayDetach}, is detached. Returns whether it is detached. */
    private boolean moveParts(boolean mayDetach) throws IOException {
        // A copy, because the field belongs to the next call as soon as this call is detached and has ended.
        Cancellation cancelled = cancellation;
        boolean detached = false;
        try {
            detached = moveAll(mayDetach);
        } catch (IOException e) {
            fail(e);
        } catch (RuntimeException | Error e) {
            fail(new IOException(e));
            throw e;
        } finally {
            if (!detached) {
                cancelled.unregister(waiter);
                if (failure.get() != null) {
                    stopCommands();
                }
                parts.end();
            }
        }
        if (!detached) {
            checkNotFailed();
        }
        return detached;
    }

    /** Continues a call that this thread has attached: ends it if all parts were moved, and otherwise starts a thread for it. */
    private void continueAttached() {
        if (failure.get() == null && parts.isDone()) {
            cancellation.unregister(waiter);
            parts.end();
            report(null);
        } else {
            startThread();
        }
    }

    private void startThread() {
        ThreadName.TRANSFER.builder().start(this::runAttached);
    }

    private void runAttached() {
        IOException reason = null;
        try {
            moveParts(false);
        } catch (IOException e) {
            reason = e;
        } catch (RuntimeException | Error e) {
            LOG.error("a transfer failed because of an error in modeldisk", e);
            reason = new IOException(e);
        }
        report(reason);
    }

    /** Reports the end of a call that was detached. */
    private void report(IOException reason) {
        RemoteModel.Completion whenEnded = completionOfCall;
        ended.accept(this);
        whenEnded.completed(reason);
    }

    /** Gives a thread to a detached call whose deadline has passed. This thread then lets the call fail. */
    void checkDeadline() {
        if (clock.nanoTime() - deadlineNs >= 0) {
            wake();
        }
    }

    private boolean moveAll(boolean mayDetach) throws IOException {
        while (true) {
            checkNotFailed();
            Part part = parts.next();
            if (part != null) {
                issue(part);
                continue;
            }
            if (mayDetach && parts.detach(stop)) {
                return true;
            }
            flush();
            if (parts.isDone()) {
                return false;
            }
            long movedNow = awaitChange(deadlineNs);
            cancellation.check();
            long nowNs = clock.nanoTime();
            if (movedNow != seenMoved) {
                seenMoved = movedNow;
                deadlineNs = nowNs + timeouts.waitNs();
            } else if (nowNs - deadlineNs >= 0) {
                throw PartRounds.roundTimeout(source.id(striping.shard(start)), timeouts.waitNs());
            }
        }
    }

    private int partBytes(long part) {
        long contiguous = Math.min(length - part, striping.contiguousBytes(start + part));
        return (int) (direction.isAbsent()
            ? contiguous
            : Math.min(contiguous, memory.bytesLeftInSlab(memoryStart + part)));
    }

    /** Returns whether no command of the last call is in flight. */
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

    /**
     * Waits until a part can be sent, until no part is in flight, until the call must stop, or until the deadline has passed.
     * Returns the number of parts that were moved.
     */
    private long awaitChange(long deadlineNs) throws IOException {
        try {
            return parts.await(deadlineNs, stop);
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for the shards");
        }
    }

    /** Wakes the thread that runs the call. This thread might be waiting for a part or for a free request of a session. */
    private void wake() {
        if (parts.wake()) {
            startThread();
            return;
        }
        IscsiSession session = acquiring;
        if (session != null) {
            session.wakeAcquirers();
        }
    }

    private void issue(Part part) throws IOException {
        long pauseNs = 0;
        try {
            pauseNs = send(part);
        } finally {
            if (pauseNs != SENT) {
                parts.sendLater(part, pauseNs);
            }
        }
    }

    /**
     * Sends a part. Returns {@link #SENT}; if the part was not sent, returns the pause before the next attempt, in nanoseconds.
     */
    private long send(Part part) throws IOException {
        int shard = striping.shard(start + part.offset);
        IscsiSession session = session(shard);
        int bytes = rounds.settle(part, shard, session.shard());
        if (bytes == 0) {
            // An earlier push of the same block is in flight. The next round of the block begins after the end of that push.
            return BUSY_PAUSE_NS;
        }
        shorten(part, bytes);
        IoRequest request = acquire(session);
        if (request == null) {
            return 0;
        }
        fill(request, part);
        sessions[shard] = session;
        if (!parts.addInFlight(part, shard, session, request)) {
            // The completion handler of a command of an earlier session was not called yet.
            session.release(request);
            return BUSY_PAUSE_NS;
        }
        boolean sent = false;
        try {
            session.submit(request, true);
            unflushed = true;
            sent = true;
            return SENT;
        } catch (ShardException e) {
            // The session is lost, so the part is sent again in another session.
            return 0;
        } finally {
            if (!sent) {
                parts.removeInFlight(shard, request);
            }
        }
    }

    /** Sends the commands that the sessions have held back. The thread that runs the call must call this before each wait. */
    private void flush() {
        if (unflushed) {
            unflushed = false;
            source.flush();
        }
    }

    private void fill(IoRequest request, Part part) {
        long lba = striping.offsetOnShard(start + part.offset) / LogicalBlock.BYTES;
        int blocks = part.bytes / LogicalBlock.BYTES;
        long at = memoryStart + part.offset / bytesOfModelPerByte();
        long round = rounds.of(part);
        switch (direction) {
            case PULL -> request.pull(type.lun(), lba, blocks, round, memory, at, part.bytes);
            case PUSH, PUSH_FINITE -> request.push(type, lba, blocks, round, memory, at, part.bytes,
                direction == Direction.PUSH_FINITE);
            case ABSENT, ABSENT_NON_FINITE -> request.absent(type, lba, blocks, round,
                direction == Direction.ABSENT_NON_FINITE && part.offset == 0, memory, at);
            case KEPT -> request.pull(ValueType.FLOAT32.lun(), lba, blocks, 0, memory, at, part.bytes);
            case READ -> request.read(Direction.RAW_LUN, lba, blocks, memory, at, part.bytes);
            case WRITE -> request.write(Direction.RAW_LUN, lba, blocks, memory, at, part.bytes);
        }
        request.onCompletion(completion);
    }

    /** The number of bytes of the model for each byte of the call's memory. */
    private int bytesOfModelPerByte() {
        return direction.isAbsent() ? ABSENT_BYTES_PER_BYTE : 1;
    }

    /** Returns an open session. Connects again if necessary, until the reconnect timeout has passed. */
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

    /** Shortens a part that is being sent. A later part moves the rest. */
    private void shorten(Part part, int bytes) throws ShardException {
        if (!parts.shorten(part, bytes)) {
            // The ledger has granted only these bytes, so the part must end with exactly this length.
            part.bytes = bytes;
            ShardId shard = source.id(striping.shard(start + part.offset));
            throw new ShardException(ShardException.Kind.LEARNER_FORGOTTEN, shard, shard
                + ": the push at byte " + (start + part.offset) + " failed, because another call pushed the same blocks"
                + " after the shard had forgotten this learner");
        }
    }

    /** Acquires a request for a command. Returns null if the session is lost. */
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
        long offset = start + (request.memoryOffset() - memoryStart) * bytesOfModelPerByte();
        int shard = striping.shard(offset);
        boolean attached;
        if (request.isGood()) {
            if (direction == Direction.PULL) {
                arrivals.arrived(shard);
            }
            attached = parts.ended(shard, request, true);
        } else if (failure.get() == null && request.failure() != null) {
            attached = parts.sendAgain(shard, request, true, 0);
        } else if (failure.get() == null && request.isToBeRetried()) {
            attached = parts.sendAgain(shard, request, false, request.wasReset() ? 0 : BUSY_PAUSE_NS);
        } else {
            fail(request.exception(source.id(shard),
                (direction.writes() ? "writing" : "reading") + " at byte " + offset));
            attached = parts.ended(shard, request, false);
        }
        // If this thread has not attached the call, the call might have ended, and the transfer might already run another call.
        // In this case, wake() wakes that call without need, which does no harm.
        if (attached) {
            continueAttached();
        } else if (failure.get() != null) {
            wake();
        }
    }

    /** Records the failure if it is the first failure of the call. */
    private void fail(IOException reason) {
        failure.compareAndSet(null, reason);
    }

    /** Stops the commands of a failed call. Afterwards, no command accesses the memory, and the call can be repeated. */
    private void stopCommands() {
        // A send by an interrupted thread would close the connection, which other calls use too.
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
            // The failed abort has closed the session, so the receiving thread fails the command.
            fail(e);
        }
    }
}
