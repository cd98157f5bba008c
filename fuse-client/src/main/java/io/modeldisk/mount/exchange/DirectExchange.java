package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An exchange without local buffers: each read pulls into the memory of its request, and each write pushes from the memory of its
 * request.
 *
 * <p>After a shard has gone back to earlier weights or has forgotten the learner, reads return the weights of the shards, and the
 * gradients of the writes until the next fsync are discarded. With {@link OnRollback#FAIL}, this fsync fails.
 */
final class DirectExchange implements Exchange {
    private static final Logger LOG = LogManager.getLogger(DirectExchange.class);

    private final RemoteModel model;
    private final long sizeBytes;
    private final NanoClock clock;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final OnRollback onRollback;
    private volatile boolean pushed;
    private volatile long round;
    /** Why the gradients until the next fsync are discarded; null if they are pushed. */
    private volatile IOException rollback;

    DirectExchange(RemoteModel model, ExchangeSettings settings) {
        this.model = model;
        this.onRollback = settings.onRollback();
        this.clock = settings.trace().clock();
        this.sizeBytes = model.facts().sizeBytes();
    }

    @Override
    public void prepare(boolean learner, Cancellation cancellation) {
        rollback = null;
        round = learner ? model.nextRound() : 0;
    }

    /** Lets the learner go on if {@link OnRollback#isReason} is true. Throws any other failure. */
    private void goOn(IOException failure) throws IOException {
        counters.failed(failure);
        if (!OnRollback.isReason(failure)) {
            throw failure;
        }
        synchronized (this) {
            if (rollback == null) {
                LOG.warn("{}; the gradient until the next fsync is discarded", failure.getMessage());
                counters.wentOn(failure, model.goOn());
            } else {
                model.goOn();
            }
            rollback = failure;
        }
    }

    @Override
    public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
        long start = LogicalBlocks.down(offset);
        long bytes = LogicalBlocks.up(offset + lengthBytes) - start;
        long startedNs = clock.nanoTime();
        try {
            model.pull(start, request.memory(), request.memoryOffset(), bytes, request.cancellation());
        } catch (IOException e) {
            goOn(e);
            model.pull(start, request.memory(), request.memoryOffset(), bytes, request.cancellation());
        }
        counters.pulled(bytes, clock.nanoTime() - startedNs);
        request.reply(request.memory(), request.memoryOffset() + offset - start, lengthBytes);
    }

    /**
     * Returns the length without a partial logical block at the end, because the kernel may split a write from scattered memory
     * within a logical block. The write(2) is then short, and the process writes the rest from the start of this block.
     */
    @Override
    public int writable(long offset, int lengthBytes) {
        long end = offset + lengthBytes;
        long blocksEnd = end == sizeBytes ? end : LogicalBlocks.down(end);
        return LogicalBlocks.isAligned(offset) && blocksEnd > offset ? (int) (blocksEnd - offset) : lengthBytes;
    }

    @Override
    public void write(long offset, int lengthBytes, DataRequest request) throws IOException {
        boolean toTheEnd = offset + lengthBytes == sizeBytes;
        if (!LogicalBlocks.isAligned(offset) || !LogicalBlocks.isAligned(lengthBytes) && !toTheEnd) {
            throw new ErrnoException(Errno.EINVAL, "a write of " + lengthBytes + " bytes at byte " + offset
                + " is not possible with the direct exchange: the write must "
                + (LogicalBlocks.isAligned(offset)
                    ? "have at least 4096 bytes or reach the end of the model"
                    : "start at a multiple of 4096")
                + "; use the sync exchange for other writes");
        }
        long bytes = LogicalBlocks.up(lengthBytes);
        if (bytes > lengthBytes) {
            Memories.zero(request.memory(), request.memoryOffset() + lengthBytes, bytes - lengthBytes);
        }
        if (rollback != null) {
            return;
        }
        long startedNs = clock.nanoTime();
        try {
            model.push(offset, request.memory(), request.memoryOffset(), bytes, request.cancellation());
        } catch (IOException e) {
            goOn(e);
            return;
        }
        counters.pushed(bytes, clock.nanoTime() - startedNs);
        pushed = true;
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        long startedNs = clock.nanoTime();
        boolean ends = pushed;
        pushed = false;
        try {
            if (rollback == null) {
                model.synchronize(cancellation);
            }
        } catch (IOException e) {
            pushed |= ends && !OnRollback.isReason(e);
            goOn(e);
        }
        IOException told = rollback;
        if (told != null) {
            rollback = null;
            round = model.nextRound();
            if (onRollback == OnRollback.FAIL) {
                throw told;
            }
            return;
        }
        counters.synchronizedIn(clock.nanoTime() - startedNs, ends);
        round = model.nextRound();
    }

    @Override
    public void refresh(Cancellation cancellation) {
        // Nothing to do: every read pulls.
    }

    @Override
    public void flush(Cancellation cancellation) {
        // Nothing to do: a write returns only after the shards have received its gradient.
    }

    @Override
    public long round() {
        return round;
    }

    @Override
    public WeightsInUse weightsInUse() {
        return WeightsInUse.LATEST;
    }

    @Override
    public void abandon() {
        pushed = false;
        rollback = null;
        round = 0;
    }

    @Override
    public ExchangeCounters counters() {
        return counters;
    }

    @Override
    public void close() {
        // Nothing to free: there are no local buffers.
    }
}
