package io.modeldisk.bench.sessions;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A session that stops reading and then requests weights, so that the shard's socket for this session stays full. */
final class StoppedReader {
    /** The maximum number of bytes in one command. The data of two commands is larger than the socket buffers. */
    static final int REQUEST_BYTES = 8 << 20;

    /** The queue depth of the session: one command whose completion callback blocks the receiving thread, and two pulls. */
    static final int QUEUE_DEPTH = 3;

    private static final int BLOCKS = REQUEST_BYTES / LogicalBlock.BYTES;
    private static final byte[] TEST_UNIT_READY = new byte[16];
    private static final long TIMEOUT_SECONDS = 10;

    private final IscsiSession session;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);

    StoppedReader(IscsiSession session, DataMemory memory) throws IOException {
        this.session = session;
        session.submit(
            place().control(BusySession.TRAIN_LUN, TEST_UNIT_READY, memory, 0, 0).onCompletion(done -> holdUp()));
        try {
            if (!stopped.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the shard sent no response to TEST UNIT READY within " + TIMEOUT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for the response to TEST UNIT READY was interrupted", e);
        }
        for (int i = 1; i < QUEUE_DEPTH; i++) {
            session.submit(
                place().read(BusySession.TRAIN_LUN, 0, BLOCKS, memory, 0, REQUEST_BYTES).onCompletion(done -> {}));
        }
    }

    private IoRequest place() throws IOException {
        IoRequest request = session.acquire(TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        if (request == null) {
            throw new IOException("the shard accepted no command within " + TIMEOUT_SECONDS + " s");
        }
        return request;
    }

    /** Blocks the session's receiving thread, so that the session stops reading. */
    private void holdUp() {
        stopped.countDown();
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lets the session read again. */
    void goOn() {
        over.countDown();
    }

    void close() {
        session.close();
    }
}
