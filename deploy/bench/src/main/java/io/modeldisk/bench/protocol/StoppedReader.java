package io.modeldisk.bench.protocol;

import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A session that stops reading and then requests weights, so the shard's socket for this session stays full. */
final class StoppedReader implements AutoCloseable {
    /** The maximum number of bytes in one command. The data of two commands is larger than the socket buffers. */
    static final int REQUEST_BYTES = 8 << 20;

    /** The queue depth of the session: one command whose completion callback blocks the receiving thread, and two pulls. */
    private static final int QUEUE_DEPTH = 3;

    private static final int BLOCKS = REQUEST_BYTES / LogicalBlock.BYTES;
    private static final byte[] TEST_UNIT_READY = new byte[16];
    private static final long TIMEOUT_SECONDS = 10;

    private final IscsiSession session;
    private final DataMemory memory;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);

    private StoppedReader(IscsiSession session, DataMemory memory) {
        this.session = session;
        this.memory = memory;
    }

    /**
     * Logs in, stops reading, and requests weights.
     *
     * @param memory {@link #REQUEST_BYTES} bytes of memory for the weights; all readers can share this memory
     */
    static StoppedReader open(BenchShard shard, DataMemory memory, String name) throws IOException {
        StoppedReader reader = new StoppedReader(IscsiSession.login(new SessionContext()
            .portal(shard.portal())
            .targetName(ModelFacts.TARGET_PREFIX + shard.facts().model())
            .initiator(SessionMover.INITIATOR + name, Isid.random())
            .queueDepth(QUEUE_DEPTH)), memory);
        try {
            UnitReadiness.await(reader.session, RequestStream.TRAIN_LUN);
            reader.stop();
            return reader;
        } catch (IOException e) {
            reader.close();
            throw e;
        }
    }

    private void stop() throws IOException {
        session.submit(place().control(RequestStream.TRAIN_LUN, TEST_UNIT_READY, memory, 0, 0)
            .onCompletion(done -> holdUp()));
        try {
            if (!stopped.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the shard sent no response to TEST UNIT READY within " + TIMEOUT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for the response to TEST UNIT READY");
        }
        for (int i = 1; i < QUEUE_DEPTH; i++) {
            session.submit(
                place().read(RequestStream.TRAIN_LUN, 0, BLOCKS, memory, 0, REQUEST_BYTES).onCompletion(done -> {}));
        }
    }

    private IoRequest place() throws IOException {
        IoRequest request = session.acquire(TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        if (request == null) {
            throw new IOException("the shard accepted no command within " + TIMEOUT_SECONDS + " s");
        }
        return request;
    }

    /** Blocks the session's receiving thread, so the session stops reading. */
    private void holdUp() {
        stopped.countDown();
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Resumes reading, and logs out. */
    @Override
    public void close() {
        over.countDown();
        session.close();
    }
}
