package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * One call's range on its way: split into commands, kept in flight on every shard, retried while a shard is BUSY. Reused for
 * one call after another; one thread runs it, the sessions' receiving threads report to it.
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

    private static final int LOGICAL_BLOCK_BYTES = 4096;
    private static final long CHECK_MILLIS = 5;
    private static final long BUSY_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Striping striping;
    private final int queueDepth;
    private final IoRequest.Completion completion = this::completed;
    private final IscsiSession[] sessions;
    /** What is in flight, by shard and slot; null where nothing is. */
    private final IoRequest[] inFlight;
    private final int[] tags;
    private final long[] retries;

    private Direction direction;
    private DataMemory memory;
    private long start;
    private long memoryStart;
    private long length;
    private long next;
    private int pending;
    private int retryCount;
    private long retryAtNanos;
    private long completions;
    private long moved;
    private String failure;

    Transfer(Striping striping, int queueDepth) {
        this.striping = striping;
        this.queueDepth = queueDepth;
        this.sessions = new IscsiSession[striping.shards()];
        this.inFlight = new IoRequest[striping.shards() * queueDepth];
        this.tags = new int[inFlight.length];
        // No part is begun while others are to be retried, so there are at most as many as places, and the one begun before.
        this.retries = new long[inFlight.length + 1];
    }

    /** Says which session to use for a shard. */
    void session(int shard, IscsiSession session) {
        sessions[shard] = session;
    }

    /**
     * Moves a range.
     *
     * @param stallNanos how long nothing at all may complete before the sessions are given up
     * @param waitNanos how long every shard may be BUSY, waiting for a round, before the call gives up
     */
    void run(
        Direction way, long offset, DataMemory data, long memoryOffset, long bytes, Cancellation cancellation,
        long stallNanos, long waitNanos) throws IOException {
        direction = way;
        memory = data;
        start = offset;
        memoryStart = memoryOffset;
        length = bytes;
        next = 0;
        retryCount = 0;
        completions = 0;
        moved = 0;
        failure = null;
        try {
            issueAll(cancellation, stallNanos, waitNanos);
        } catch (CancelledException e) {
            fail(e.getMessage());
            finish(stallNanos);
            throw e;
        } catch (IOException e) {
            fail(e.getMessage());
        }
        finish(stallNanos);
        if (failure != null) {
            throw new IOException(failure);
        }
    }

    private void issueAll(Cancellation cancellation, long stallNanos, long waitNanos) throws IOException {
        long lastProgress = System.nanoTime();
        long lastMoved = lastProgress;
        long seen = 0;
        long seenMoved = 0;
        while (true) {
            long part = takePart();
            if (part == Long.MIN_VALUE) {
                return;
            }
            if (part >= 0) {
                issue(part, cancellation, stallNanos);
                continue;
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
            if (now - lastProgress > stallNanos) {
                throw new IOException("no shard has answered for " + TimeUnit.NANOSECONDS.toSeconds(stallNanos) + " s");
            }
            if (now - lastMoved > waitNanos) {
                throw new IOException("waited for a round for " + TimeUnit.NANOSECONDS.toSeconds(waitNanos)
                    + " s: other learners have not pushed it (`modeldisk status` says who)");
            }
        }
    }

    /** The next part's offset in the range; -1 if there is none now, {@link Long#MIN_VALUE} if all is done. */
    private synchronized long takePart() throws IOException {
        checkNotFailed();
        if (retryCount > 0) {
            return System.nanoTime() - retryAtNanos >= 0 ? retries[--retryCount] : -1;
        }
        if (next < length) {
            long part = next;
            next += partBytes(part);
            return part;
        }
        return pending == 0 && retryCount == 0 ? Long.MIN_VALUE : -1;
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

    private void issue(long part, Cancellation cancellation, long stallNanos) throws IOException {
        int shard = striping.shard(start + part);
        IscsiSession session = sessions[shard];
        IoRequest request = acquire(session, shard, cancellation, stallNanos);
        int bytes = (int) partBytes(part);
        long lba = striping.offsetOnShard(start + part) / LOGICAL_BLOCK_BYTES;
        int blocks = bytes / LOGICAL_BLOCK_BYTES;
        if (direction.writes()) {
            request.write(direction.lun(), lba, blocks, memory, memoryStart + part, bytes);
        } else {
            request.read(direction.lun(), lba, blocks, memory, memoryStart + part, bytes);
        }
        request.onCompletion(completion);
        int index = shard * queueDepth + request.slot();
        synchronized (this) {
            pending++;
            inFlight[index] = request;
            tags[index] = request.initiatorTaskTag();
        }
        try {
            session.submit(request);
        } catch (IOException e) {
            synchronized (this) {
                pending--;
                inFlight[index] = null;
            }
            throw e;
        }
    }

    private IoRequest acquire(IscsiSession session, int shard, Cancellation cancellation, long stallNanos)
        throws IOException {
        long begun = System.nanoTime();
        while (true) {
            IoRequest request = session.acquire(TimeUnit.MILLISECONDS.toNanos(CHECK_MILLIS));
            if (request != null) {
                return request;
            }
            if (cancellation.isCancelled()) {
                throw new CancelledException();
            }
            checkNotFailed();
            if (System.nanoTime() - begun > stallNanos) {
                throw new IOException("shard " + shard + " has ended no command for "
                    + TimeUnit.NANOSECONDS.toSeconds(stallNanos) + " s");
            }
        }
    }

    private synchronized void completed(IoRequest request) {
        long part = request.memoryOffset() - memoryStart;
        pending--;
        completions++;
        int shard = striping.shard(start + part);
        inFlight[shard * queueDepth + request.slot()] = null;
        if (request.isGood()) {
            moved++;
        } else if (request.isToBeRetried()) {
            retries[retryCount++] = part;
            retryAtNanos = System.nanoTime() + BUSY_PAUSE_NANOS;
        } else if (failure == null) {
            failure = (direction.writes() ? "writing" : "reading") + " at byte " + (start + part) + " of shard " + shard
                + ": " + request.describeEnd();
        }
        if (pending == 0 || retryCount > 0 || failure != null) {
            notifyAll();
        }
    }

    private synchronized void fail(String reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    private void await() throws IOException {
        try {
            synchronized (this) {
                if (pending > 0 || retryCount > 0) {
                    wait(CHECK_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** After a failure: sees to it that no command of this call touches the memory any more. */
    private void finish(long stallNanos) {
        for (int index = 0; index < inFlight.length; index++) {
            IoRequest request;
            int tag;
            synchronized (this) {
                request = inFlight[index];
                tag = tags[index];
            }
            if (request != null) {
                abort(sessions[index / queueDepth], request, tag);
            }
        }
        long deadline = System.nanoTime() + stallNanos;
        boolean interrupted = false;
        synchronized (this) {
            while (pending > 0 && System.nanoTime() - deadline < 0) {
                try {
                    wait(CHECK_MILLIS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether no command of the last call is in flight any more. */
    synchronized boolean isIdle() {
        return pending == 0;
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
