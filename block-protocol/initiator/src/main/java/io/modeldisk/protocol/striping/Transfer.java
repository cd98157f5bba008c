package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * One call's range on its way: split into commands, kept in flight on every shard, sent again while a shard is BUSY and after
 * its connection was lost. Reused for one call after another; one thread runs it, the sessions' receiving threads report to it.
 *
 * <p>A part of a push that is sent again is of the same round, so that the shard knows it. That holds as long as the shard knows
 * the learner: if it has forgotten it, what became of the parts that were on their way cannot be found out, and the call fails.
 */
final class Transfer {
    /** Which way, and on which unit. */
    enum Direction {
        /** Weights, from LUN 0. */
        PULL(0, false),
        /** A gradient, to LUN 0. */
        PUSH(0, true),
        /** Weights, from LUN 1. */
        READ(1, false),
        /** Weights, to LUN 1. */
        WRITE(1, true);

        private final int lun;
        private final boolean writes;

        Direction(int lun, boolean writes) {
            this.lun = lun;
            this.writes = writes;
        }

        int lun() {
            return lun;
        }

        boolean writes() {
            return writes;
        }
    }

    /** Where the sessions come from, and come from again when they are lost. */
    @FunctionalInterface
    interface Sessions {
        /** The open session with a shard that serves this direction; connects it once if there is none. */
        IscsiSession session(int shard, Direction direction) throws IOException;
    }

    /** How long a call bears with what. */
    record Limits(long stallNanos, long waitNanos, long reconnectNanos) {}

    private static final long CHECK_MILLIS = 5;
    private static final long BUSY_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Striping striping;
    private final int queueDepth;
    private final Sessions source;
    private final Limits limits;
    private final Reconnection reconnection = new Reconnection();
    private final PartRounds rounds = new PartRounds();
    private final IoRequest.Completion completion = this::completed;
    private final IscsiSession[] sessions;
    /** What is in flight, by shard and slot; null where nothing is. */
    private final Part[] inFlight;
    private final PartStack free;
    private final PartStack waiting;

    private Direction direction;
    private DataMemory memory;
    private long start;
    private long memoryStart;
    private long length;
    private Cancellation cancellation;
    private long next;
    private int pending;
    private long retryAtNanos;
    private long completions;
    private long moved;
    private String failure;
    /** Whether commands may have been kept back. */
    private boolean unflushed;

    Transfer(Striping striping, int queueDepth, Sessions source, Limits limits) {
        this.striping = striping;
        this.queueDepth = queueDepth;
        this.source = source;
        this.limits = limits;
        this.sessions = new IscsiSession[striping.shards()];
        this.inFlight = new Part[striping.shards() * queueDepth];
        // No part is begun while others are to be sent again: there are at most as many as places, and the one begun before.
        this.free = new PartStack(inFlight.length + 1);
        this.waiting = new PartStack(inFlight.length + 1);
        for (int i = 0; i <= inFlight.length; i++) {
            free.push(new Part());
        }
    }

    /**
     * Moves a range.
     *
     * @param ledger the learner's account, for a pull and a push; null for who is no learner
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
        next = 0;
        completions = 0;
        moved = 0;
        failure = null;
        reconnection.begin(limits.reconnectNanos());
        try {
            issueAll();
        } catch (CancelledException e) {
            fail(e.getMessage());
            finish();
            throw e;
        } catch (IOException e) {
            fail(e.getMessage());
        }
        if (failure != null) {
            finish();
            throw new IOException(failure);
        }
    }

    private void issueAll() throws IOException {
        long lastProgress = System.nanoTime();
        long lastMoved = lastProgress;
        long seen = 0;
        long seenMoved = 0;
        while (true) {
            Part part = takePart();
            if (part != null) {
                issue(part);
                continue;
            }
            flush();
            if (isDone()) {
                return;
            }
            await();
            long now = System.nanoTime();
            if (cancellation.isCancelled()) {
                throw new CancelledException();
            }
            synchronized (this) {
                if (completions != seen) {
                    seen = completions;
                    lastProgress = now;
                }
                if (moved != seenMoved) {
                    seenMoved = moved;
                    lastMoved = now;
                }
            }
            if (now - lastProgress > limits.stallNanos()) {
                throw new IOException("no shard has answered for "
                    + TimeUnit.NANOSECONDS.toSeconds(limits.stallNanos()) + " s");
            }
            if (now - lastMoved > limits.waitNanos()) {
                throw new IOException("waited for a round for " + TimeUnit.NANOSECONDS.toSeconds(limits.waitNanos())
                    + " s: other learners have not pushed it (`modeldisk status` says who)");
            }
        }
    }

    /** The next part to send; null if there is none now. */
    private synchronized Part takePart() throws IOException {
        checkNotFailed();
        if (!waiting.isEmpty()) {
            return System.nanoTime() - retryAtNanos >= 0 ? waiting.pop() : null;
        }
        if (next == length) {
            return null;
        }
        Part part = free.pop().begin(next, (int) partBytes(next));
        next += part.bytes;
        return part;
    }

    private synchronized boolean isDone() {
        return next == length && pending == 0 && waiting.isEmpty();
    }

    private synchronized void checkNotFailed() throws IOException {
        if (failure != null) {
            throw new IOException(failure);
        }
    }

    private long partBytes(long part) {
        long contiguous = Math.min(length - part, striping.contiguousBytes(start + part));
        return Math.min(contiguous, memory.bytesLeftInSlab(memoryStart + part));
    }

    private void issue(Part part) throws IOException {
        boolean sent = false;
        try {
            sent = send(part);
        } finally {
            if (!sent) {
                synchronized (this) {
                    waiting.push(part);
                    retryAtNanos = System.nanoTime() + BUSY_PAUSE_NANOS;
                }
            }
        }
    }

    /** Sends a part; answers whether it went. */
    private boolean send(Part part) throws IOException {
        int shard = striping.shard(start + part.offset);
        IscsiSession session = session(shard);
        int bytes = rounds.settle(part, shard);
        if (bytes == 0) {
            return false;
        }
        cut(part, bytes);
        IoRequest request = acquire(session, shard);
        if (request == null) {
            return false;
        }
        fill(request, part);
        request.onCompletion(completion);
        int index = shard * queueDepth + request.slot();
        synchronized (this) {
            if (inFlight[index] != null) {
                // The end of a command of the session before has still to be told.
                session.release(request);
                return false;
            }
            sessions[shard] = session;
            pending++;
            inFlight[index] = part;
            part.request = request;
            part.tag = request.initiatorTaskTag();
        }
        try {
            session.submit(request, true);
            unflushed = true;
            return true;
        } catch (IOException e) {
            // It was not sent, and the session is lost: the next try finds another.
            synchronized (this) {
                pending--;
                inFlight[index] = null;
                part.request = null;
            }
            return false;
        }
    }

    /** Sends what was kept back for more: before this waits for anything. */
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
            case PUSH -> request.push(direction.lun(), lba, blocks, round, memory, at, part.bytes);
            case READ -> request.read(direction.lun(), lba, blocks, memory, at, part.bytes);
            case WRITE -> request.write(direction.lun(), lba, blocks, memory, at, part.bytes);
        }
    }

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
                // The other shards' silence was not theirs.
                synchronized (this) {
                    completions++;
                }
            }
        }
    }

    /** Leaves the rest of a part to a later one. */
    private synchronized void cut(Part part, int bytes) throws IOException {
        if (bytes < part.bytes) {
            if (part.offset + part.bytes != next) {
                throw new IOException("the blocks at byte " + (start + part.offset)
                    + " were moved by another call while their shard forgot this learner");
            }
            part.bytes = bytes;
            next = part.offset + bytes;
        }
    }

    /** A place for a command; null if the session is lost. */
    private IoRequest acquire(IscsiSession session, int shard) throws IOException {
        IoRequest request = tryAcquire(session, 0);
        if (request != null) {
            return request;
        }
        flush();
        long begun = System.nanoTime();
        while (session.isOpen()) {
            request = tryAcquire(session, TimeUnit.MILLISECONDS.toNanos(CHECK_MILLIS));
            if (request != null) {
                return request;
            }
            if (cancellation.isCancelled()) {
                throw new CancelledException();
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new IOException("interrupted");
            }
            checkNotFailed();
            if (System.nanoTime() - begun > limits.stallNanos()) {
                throw new IOException("shard " + shard + " has ended no command for "
                    + TimeUnit.NANOSECONDS.toSeconds(limits.stallNanos()) + " s");
            }
        }
        return null;
    }

    private static IoRequest tryAcquire(IscsiSession session, long nanos) throws IOException {
        try {
            return session.acquire(nanos);
        } catch (IOException e) {
            if (session.isOpen() || Thread.currentThread().isInterrupted()) {
                throw e;
            }
            return null;
        }
    }

    private synchronized void completed(IoRequest request) {
        long offset = request.memoryOffset() - memoryStart;
        int index = striping.shard(start + offset) * queueDepth + request.slot();
        Part part = inFlight[index];
        inFlight[index] = null;
        part.request = null;
        pending--;
        completions++;
        if (request.isGood()) {
            moved++;
            end(part, true);
        } else if (failure != null) {
            end(part, false);
        } else if (request.failure() != null) {
            // The connection was lost.
            part.doubtful = true;
            waiting.push(part);
            retryAtNanos = System.nanoTime();
        } else if (request.isToBeRetried()) {
            part.doubtful = false;
            waiting.push(part);
            retryAtNanos = System.nanoTime() + BUSY_PAUSE_NANOS;
        } else {
            failure = (direction.writes() ? "writing" : "reading") + " at byte " + (start + part.offset) + " of shard "
                + striping.shard(start + part.offset) + ": " + request.describeEnd();
            end(part, false);
        }
        if (pending == 0 || !waiting.isEmpty() || failure != null) {
            notifyAll();
        }
    }

    private void end(Part part, boolean shardHasIt) {
        rounds.ended(part, shardHasIt);
        free.push(part);
    }

    private synchronized void fail(String reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    private void await() throws IOException {
        try {
            synchronized (this) {
                if (pending > 0 || !waiting.isEmpty()) {
                    wait(CHECK_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** After a failure: sees to it that no command of this call touches the memory any more, and that it can be repeated. */
    private void finish() {
        // An interrupted thread that sends would close the connection, which serves other calls too.
        boolean interrupted = Thread.interrupted();
        flush();
        for (int index = 0; index < inFlight.length; index++) {
            IoRequest request;
            int tag;
            synchronized (this) {
                Part part = inFlight[index];
                request = part == null ? null : part.request;
                tag = part == null ? 0 : part.tag;
            }
            if (request != null) {
                abort(sessions[index / queueDepth], request, tag);
            }
        }
        interrupted |= awaitEnds();
        synchronized (this) {
            while (!waiting.isEmpty()) {
                end(waiting.pop(), false);
            }
            rounds.failed();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean awaitEnds() {
        long deadline = System.nanoTime() + limits.stallNanos();
        boolean interrupted = false;
        while (pending > 0 && System.nanoTime() - deadline < 0) {
            try {
                wait(CHECK_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        return interrupted;
    }

    /** Whether no command of the last call is in flight any more. */
    synchronized boolean isIdle() {
        return pending == 0 && waiting.isEmpty();
    }

    private void abort(IscsiSession session, IoRequest request, int tag) {
        try {
            session.abort(request, tag);
        } catch (IOException e) {
            // The session is closed then, and ends the command itself.
            fail(e.getMessage());
        }
    }
}
