package io.modeldisk.bench.training;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.StripedModel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * A program that follows the model while learners train. It waits for each version, and then reads all weights if the last read
 * was long enough ago. It is no learner.
 */
final class Follower implements AutoCloseable {
    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

    private final StripedModel model;
    private final boolean reads;
    private final DataMemory weights;
    private final Cancellation cancellation = new Cancellation();
    private final Thread thread;
    private volatile IOException failure;

    private Follower(StripedModel model, boolean reads) throws IOException {
        this.model = model;
        this.reads = reads;
        this.weights = model.allocate(LogicalBlock.up(model.facts().sizeBytes()));
        this.thread = Thread.ofPlatform().daemon().name("bench-follower").unstarted(this::run);
    }

    /**
     * Starts to follow a model.
     *
     * @param reads whether it reads all weights once a second
     */
    static Follower start(StripedModel model, boolean reads) throws IOException {
        Follower follower = new Follower(model, reads);
        follower.thread.start();
        return follower;
    }

    private void run() {
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
        } catch (IOException e) {
            failure = e;
        }
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
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for the end of a follower was interrupted", e);
        }
        weights.close();
        if (failure != null) {
            throw new IOException("a follower failed: " + failure.getMessage(), failure);
        }
    }
}
