package io.modeldisk.bench.sessions;

import io.modeldisk.bench.load.Walk;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** A session that pushes and pulls alternately at full speed. */
final class BusySession implements IoRequest.Completion {
    static final int TRAIN_LUN = 0;

    private static final int BLOCK = LogicalBlock.BYTES;
    private static final long TIMEOUT_SECONDS = 60;

    private final IscsiSession session;
    private final boolean checksGradients;
    private final DataMemory memory;
    private final int requestBytes;
    private final int queueDepth;
    private final Walk walk;
    private final Semaphore room;
    private final AtomicLong moved = new AtomicLong();
    private final AtomicLong longestNs = new AtomicLong();
    private final AtomicLong busy = new AtomicLong();
    private final AtomicLong full = new AtomicLong();
    private final long[] begunNs;
    private volatile String failure;

    /**
     * Creates a busy session. Several sessions may share one memory of {@link #memoryBytes} bytes. The memory contains the
     * gradient, followed by a buffer for each pull in flight.
     */
    BusySession(IscsiSession session, DataMemory memory, ModelFacts facts, int requestBytes, int queueDepth) {
        this.session = session;
        this.checksGradients = facts.checksGradients();
        this.memory = memory;
        this.requestBytes = requestBytes;
        this.queueDepth = queueDepth;
        this.walk = new Walk(facts.bytesOfShard(), requestBytes, false);
        this.room = new Semaphore(queueDepth);
        this.begunNs = new long[queueDepth];
    }

    /** The size of the memory for one gradient and for the weights of every request in flight. */
    static long memoryBytes(int requestBytes, int queueDepth) {
        return (long) requestBytes * (queueDepth + 1);
    }

    /** Sends at most {@code requests} requests while {@code goOn} returns true. Waits until all sent requests have completed. */
    void run(long requests, BooleanSupplier goOn) {
        try {
            boolean push = true;
            for (long i = 0; i < requests && goOn.getAsBoolean() && failure == null; i++) {
                await(1);
                submit(push);
                push = !push;
            }
            await(queueDepth);
        } catch (IOException e) {
            fail(e.getMessage());
        }
    }

    private void submit(boolean push) throws IOException {
        IoRequest request = session.acquire(TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        if (request == null) {
            throw new IOException("the shard completed no command within " + TIMEOUT_SECONDS + " s");
        }
        long lba = walk.next() / BLOCK;
        begunNs[request.slot()] = System.nanoTime();
        if (push) {
            request.push(ValueType.FLOAT32, lba, requestBytes / BLOCK, RoundCdb.NO_ROUND, memory, 0, requestBytes,
                checksGradients && ValueType.FLOAT32.areFinite(memory, 0, requestBytes));
        } else {
            request.read(TRAIN_LUN, lba, requestBytes / BLOCK, memory, (request.slot() + 1L) * requestBytes,
                requestBytes);
        }
        session.submit(request.onCompletion(this));
    }

    @Override
    public void completed(IoRequest request) {
        if (request.isGood()) {
            moved.addAndGet(requestBytes);
            long took = System.nanoTime() - begunNs[request.slot()];
            longestNs.accumulateAndGet(took, Math::max);
        } else if (request.status() == ScsiStatus.BUSY) {
            busy.incrementAndGet();
        } else if (request.status() == ScsiStatus.TASK_SET_FULL) {
            full.incrementAndGet();
        } else {
            fail(request.describeEnd());
        }
        room.release();
    }

    private void fail(String reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    private void await(int permits) throws IOException {
        try {
            if (!room.tryAcquire(permits, TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the shard completed no command within " + TIMEOUT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for a command was interrupted", e);
        }
    }

    long movedBytes() {
        return moved.get();
    }

    long longestNs() {
        return longestNs.get();
    }

    long busyCount() {
        return busy.get();
    }

    long taskSetFullCount() {
        return full.get();
    }

    /** The reason why the session failed; null if the session has not failed. */
    String failure() {
        return failure;
    }

    void close() {
        session.close();
    }
}
