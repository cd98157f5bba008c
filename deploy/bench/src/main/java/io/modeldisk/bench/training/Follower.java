package io.modeldisk.bench.training;

import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.StripedModel;
import java.io.IOException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * A program that follows the model while learners train. It waits for each new version, and then reads all weights if the last
 * read was at least a second ago. It does not take part as a learner.
 */
final class Follower implements AutoCloseable {
    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

    private final StripedModel model;
    private final boolean reads;
    private final DataMemory weights;
    private final Cancellation cancellation = new Cancellation();
    private final FutureTask<Void> following;

    /**
     * Starts to follow a model.
     *
     * @param reads true if the program reads all weights once a second; false if it only waits for versions
     */
    Follower(StripedModel model, boolean reads) throws IOException {
        this.model = model;
        this.reads = reads;
        this.weights = model.allocate(LogicalBlock.up(model.facts().sizeBytes()));
        this.following = ClosedLoop.start("bench-follower", this::follow);
    }

    private Void follow() throws IOException {
        long version = AwaitCommand.NONE;
        long readNs = System.nanoTime() - PERIOD_NS;
        try {
            while (!cancellation.isCancelled()) {
                version = model.awaitVersion(version, cancellation).minVersion();
                if (reads && System.nanoTime() - readNs >= PERIOD_NS) {
                    readNs = System.nanoTime();
                    model.pull(0, weights, 0, weights.bytes(), cancellation);
                }
            }
        } catch (CancelledException e) {
            // The measurement has ended.
            return null;
        } catch (IOException e) {
            throw new IOException("a follower failed: " + e.getMessage(), e);
        }
        return null;
    }

    /**
     * Ends the thread.
     *
     * @throws IOException if the follower has failed during the measurement
     */
    @Override
    public void close() throws IOException {
        cancellation.cancel();
        try {
            ClosedLoop.await(following);
        } finally {
            weights.close();
        }
    }
}
