package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Offsets;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Sends the requests of a load. Keeps the session's queue full until all requests have been sent. A stream can be used only once,
 * by one thread.
 */
final class RequestStream implements IoRequest.Completion {
    static final int TRAIN_LUN = 0;
    private static final int BLOCK = LogicalBlock.BYTES;
    private static final long TIMEOUT_S = 30;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(TIMEOUT_S);

    private final IscsiSession session;
    private final boolean checksGradients;
    private final Load load;
    private final boolean push;
    private final DataMemory memory;
    private final int stepBytes;
    private final Offsets walk;
    private final boolean alone;
    private final Semaphore room;
    private final long[] offsetOfSlot;
    private long nextBuffer;
    private volatile String failure;

    RequestStream(IscsiSession session, ModelFacts facts, Load load, boolean push, DataMemory memory) {
        this.session = session;
        this.checksGradients = facts.checksGradients();
        this.load = load;
        this.push = push;
        this.memory = memory;
        // A request addresses whole logical blocks, even if the load needs only a part of a block.
        this.stepBytes = (load.requestBytes() + BLOCK - 1) & -BLOCK;
        this.walk = new Offsets(facts.bytesOfShard(), stepBytes, load.direction().ways() == 2 && push);
        // A single stream can fill the session's queue. Two streams share the queue, and each fills half of the slots.
        this.alone = load.direction().ways() == 1;
        this.room = new Semaphore(alone ? 0 : load.queueDepth());
        this.offsetOfSlot = new long[load.queueDepth() * load.direction().ways()];
        Arrays.fill(offsetOfSlot, -1);
    }

    /** The size of a request in bytes, rounded up to whole logical blocks. */
    int stepBytes() {
        return stepBytes;
    }

    /** Sends all requests of the load and waits until they have completed. */
    Void run() throws IOException {
        for (long i = 0; i < load.requests(); i++) {
            await(alone ? 0 : 1);
            submitNext(true);
        }
        await(alone ? Math.toIntExact(load.requests()) : load.queueDepth());
        return null;
    }

    /** Sends one request at a time and records the latency of each request in nanoseconds. */
    void pingPong(Histogram nanoseconds) throws IOException {
        for (long i = 0; i < load.requests(); i++) {
            long begun = System.nanoTime();
            submitNext(false);
            await(1);
            nanoseconds.recordValue(System.nanoTime() - begun);
        }
    }

    private void submitNext(boolean more) throws IOException {
        IoRequest request = session.acquire(TIMEOUT_NS);
        if (request == null) {
            throw overdue();
        }
        long offset = walk.next();
        if (push) {
            long at = nextBuffer * stepBytes;
            request.push(ValueType.FLOAT32, offset / BLOCK, stepBytes / BLOCK, RoundCdb.NO_ROUND, memory, at, stepBytes,
                checksGradients && ValueType.FLOAT32.areFinite(memory, at, stepBytes));
            nextBuffer = nextBuffer + 1 == load.pushBuffers() ? 0 : nextBuffer + 1;
        } else {
            int slot = request.slot();
            offsetOfSlot[slot] = offset;
            request.read(TRAIN_LUN, offset / BLOCK, stepBytes / BLOCK, memory, (long) slot * stepBytes,
                load.requestBytes());
        }
        session.submit(request.onCompletion(this), more);
    }

    @Override
    public void completed(IoRequest request) {
        if (!request.isGood() && failure == null) {
            failure = (push ? "a push" : "a pull") + " failed: " + request.describeEnd();
        }
        room.release();
    }

    private void await(int permits) throws IOException {
        try {
            if (!room.tryAcquire(permits)) {
                session.flush();
                if (!room.tryAcquire(permits, TIMEOUT_S, TimeUnit.SECONDS)) {
                    throw overdue();
                }
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for a command");
        }
        if (failure != null) {
            throw new IOException(failure);
        }
    }

    private static IOException overdue() {
        return new IOException("the shard completed no command within " + TIMEOUT_S + " s");
    }

    /** Checks the weights of the last pull in each slot of the session's queue. */
    void checkWeights() throws IOException {
        for (int slot = 0; slot < offsetOfSlot.length; slot++) {
            if (offsetOfSlot[slot] >= 0) {
                Pattern.check(memory, (long) slot * stepBytes, offsetOfSlot[slot], load.requestBytes());
            }
        }
    }
}
