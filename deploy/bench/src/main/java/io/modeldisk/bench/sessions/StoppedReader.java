package io.modeldisk.bench.sessions;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A session that asks for much and then reads nothing more: the shard's sockets to it fill up, and stay full. */
final class StoppedReader {
    /** The most that one command moves; two are more than the sockets hold. */
    static final int REQUEST_BYTES = 8 << 20;

    /** What stops the reading, and two pulls: as many as a session may send before it has read anything. */
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
                throw new IOException("the shard does not answer within " + TIMEOUT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        for (int i = 1; i < QUEUE_DEPTH; i++) {
            session.submit(
                place().read(BusySession.TRAIN_LUN, 0, BLOCKS, memory, 0, REQUEST_BYTES).onCompletion(done -> {}));
        }
    }

    private IoRequest place() throws IOException {
        IoRequest request = session.acquire(TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        if (request == null) {
            throw new IOException("the shard takes no command within " + TIMEOUT_SECONDS + " s");
        }
        return request;
    }

    /** On the session's receiving thread, which so reads no more. */
    private void holdUp() {
        stopped.countDown();
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lets it read on. */
    void goOn() {
        over.countDown();
    }

    void close() {
        session.close();
    }
}
