package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An exchange without local buffers: each read pulls into the memory of its request, and each write pushes from the memory of its
 * request.
 *
 * <p>After a shard has gone back to earlier weights or has forgotten the learner, reads return the current weights of the shards,
 * and all gradients that are written before the next fsync are discarded. With {@link OnRollback#FAIL}, this fsync fails.
 */
final class DirectExchange implements Exchange {
    private static final Logger LOG = LogManager.getLogger(DirectExchange.class);
    /** The maximum time for which a read waits for writes in progress; see {@link #goOn}. */
    private static final long WRITES_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private final RemoteModel model;
    private final long sizeBytes;
    private final NanoClock clock;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final OnRollback onRollback;
    private final ScopedLock lock = new ScopedLock();
    private final Condition writesEnded = lock.newCondition();
    private final Cancellation.Waiter wakeReads = Cancellation.signalling(lock, writesEnded);
    /** The call objects that are not in use. Guarded by {@code lock}. */
    private final ArrayDeque<Call> free = new ArrayDeque<>();
    /** The number of writes in progress. Guarded by {@code lock}. */
    private int writing;
    private volatile boolean pushed;
    private volatile long round;
    /** The reason why gradients are discarded until the next fsync; null if gradients are pushed. */
    private volatile IOException rollback;
    /** True if {@link #rollback} is already in the counters. Guarded by {@code this}. */
    private boolean counted;

    DirectExchange(RemoteModel model, ExchangeSettings settings) {
        this.model = model;
        this.onRollback = settings.onRollback();
        this.clock = settings.trace().clock();
        this.sizeBytes = model.trainBytes();
    }

    @Override
    public void prepare(boolean learner, Cancellation cancellation) {
        end(null);
        round = learner ? model.nextRound() : 0;
    }

    /**
     * Discards all gradients until the next fsync if {@link OnRollback#isReason} is true, so the learner can continue. Throws
     * any other failure. Pushes stay forbidden until {@link #goOn}: another request of the same write(2) might be about to
     * repeat a failed push, and its gradient would count twice.
     */
    private synchronized void discard(IOException failure) throws IOException {
        counters.failed(failure);
        if (!OnRollback.isReason(failure)) {
            throw failure;
        }
        if (rollback == null) {
            LOG.warn("{}; all gradients written before the next fsync are discarded", failure.getMessage());
        }
        rollback = failure;
    }

    /**
     * Permits pushes and pulls again. Until the next fsync, the gradients are still discarded. First waits for the writes in
     * progress, because they would push parts of a discarded gradient.
     *
     * @throws IOException {@code reason}, if the writes do not end in time
     */
    private void goOn(IOException reason, Cancellation cancellation) throws IOException {
        // The commands of these writes might be held back.
        model.flush();
        try (Cancellation.Registration _ = cancellation.registered(wakeReads); ScopedLock.Held _ = lock.hold()) {
            boolean ended = clock.awaitUntil(writesEnded, () -> writing == 0 || cancellation.isCancelled(),
                clock.nanoTime() + WRITES_TIMEOUT_NS);
            if (!ended) {
                throw reason;
            }
            if (writing > 0) {
                throw new CancelledException("the call was interrupted while it waited for writes in progress");
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for writes in progress");
        }
        permitPushes(reason);
    }

    private synchronized void permitPushes(IOException reason) {
        long rounds = model.goOn();
        if (!counted) {
            counters.wentOn(reason, rounds);
            counted = true;
        }
    }

    /** Stops discarding gradients, or discards them for the reason {@code untold}, which is already in the counters. */
    private synchronized void end(IOException untold) {
        rollback = untold;
        counted = untold != null;
    }

    /** A read or a write in progress. The object is reused for later requests. */
    private final class Call implements RemoteModel.Completion, DataRequest.Ending {
        private boolean writes;
        private long offset;
        private int lengthBytes;
        private DataRequest request;
        private long startedNs;
        private IOException failure;

        Call begin(boolean write, long at, int length, DataRequest of) {
            writes = write;
            offset = at;
            lengthBytes = length;
            request = of;
            failure = null;
            startedNs = clock.nanoTime();
            return this;
        }

        /**
         * Starts the call, which ends with {@link #completed}. The caller must not use this object afterwards, because it can be
         * reused.
         */
        void start() {
            boolean goesOn = false;
            IOException reason = null;
            try {
                goesOn = move(this);
            } catch (IOException e) {
                reason = e;
            }
            if (!goesOn) {
                completed(reason);
            }
        }

        /** Runs the call in this thread. */
        void runHere() throws IOException {
            try {
                move(null);
            } catch (IOException e) {
                failure = e;
            }
            run();
        }

        private boolean move(RemoteModel.Completion completion) throws IOException {
            return writes
                ? model.startPush(offset, request.memory(), request.memoryOffset(), bytes(), false,
                    request.cancellation(), completion)
                : model.startPull(firstBlock(), request.memory(), request.memoryOffset(), bytes(),
                    request.cancellation(), completion);
        }

        @Override
        public void completed(IOException reason) {
            failure = reason;
            request.end(this);
        }

        @Override
        public int run() throws IOException {
            try {
                if (writes) {
                    pushed();
                } else {
                    pulled();
                }
                return lengthBytes;
            } finally {
                ended(this);
            }
        }

        private long firstBlock() {
            return LogicalBlock.down(offset);
        }

        private long bytes() {
            return LogicalBlock.up(offset + lengthBytes) - firstBlock();
        }

        private void pulled() throws IOException {
            if (failure != null) {
                discard(failure);
                goOn(failure, request.cancellation());
                move(null);
            }
            counters.pulled(bytes(), clock.nanoTime() - startedNs);
            request.reply(request.memory(), request.memoryOffset() + offset - firstBlock(), lengthBytes);
        }

        private void pushed() throws IOException {
            if (failure != null) {
                discard(failure);
                return;
            }
            counters.pushed(bytes(), clock.nanoTime() - startedNs);
            pushed = true;
        }
    }

    /** Returns an object for a call; null for a write if gradients are discarded until the next fsync. */
    private Call call(boolean writes, long offset, int lengthBytes, DataRequest request) {
        try (ScopedLock.Held _ = lock.hold()) {
            if (writes && rollback != null) {
                return null;
            }
            writing += writes ? 1 : 0;
            return (free.isEmpty() ? new Call() : free.pop()).begin(writes, offset, lengthBytes, request);
        }
    }

    private void ended(Call call) {
        try (ScopedLock.Held _ = lock.hold()) {
            writing -= call.writes ? 1 : 0;
            if (writing == 0) {
                writesEnded.signalAll();
            }
            free.push(call);
        }
    }

    @Override
    public boolean startRead(long offset, int lengthBytes, DataRequest request) {
        call(false, offset, lengthBytes, request).start();
        return true;
    }

    @Override
    public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
        call(false, offset, lengthBytes, request).runHere();
    }

    /**
     * Returns the length without a partial logical block at the end. The kernel might split a write from scattered memory within
     * a logical block. The write(2) is then short, and the process writes the rest from the start of this block.
     */
    @Override
    public int writable(long offset, int lengthBytes) {
        long end = offset + lengthBytes;
        long blocksEnd = end == sizeBytes ? end : LogicalBlock.down(end);
        return LogicalBlock.isAligned(offset) && blocksEnd > offset ? (int) (blocksEnd - offset) : lengthBytes;
    }

    @Override
    public boolean startWrite(long offset, int lengthBytes, DataRequest request) throws IOException {
        fillLastBlock(offset, lengthBytes, request);
        Call call = call(true, offset, lengthBytes, request);
        if (call != null) {
            call.start();
        }
        return call != null;
    }

    @Override
    public void write(long offset, int lengthBytes, DataRequest request) throws IOException {
        fillLastBlock(offset, lengthBytes, request);
        Call call = call(true, offset, lengthBytes, request);
        if (call != null) {
            call.runHere();
        }
    }

    /** Checks a write, and fills the rest of its last logical block with zeros. */
    private void fillLastBlock(long offset, int lengthBytes, DataRequest request) throws IOException {
        boolean toTheEnd = offset + lengthBytes == sizeBytes;
        if (!LogicalBlock.isAligned(offset) || !LogicalBlock.isAligned(lengthBytes) && !toTheEnd) {
            throw new ErrnoException(Errno.EINVAL, "a write of " + lengthBytes + " bytes at byte " + offset
                + " is not possible with the direct exchange: the write must "
                + (LogicalBlock.isAligned(offset)
                    ? "have at least 4096 bytes or reach the end of the model"
                    : "start at a multiple of 4096")
                + "; use the sync exchange for other writes");
        }
        long bytes = LogicalBlock.up(lengthBytes);
        if (bytes > lengthBytes) {
            Memories.zero(request.memory(), request.memoryOffset() + lengthBytes, bytes - lengthBytes);
        }
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
            discard(e);
        }
        IOException told = rollback;
        if (told != null) {
            goOn(told, cancellation);
            if (onRollback == OnRollback.FAIL) {
                // An interrupted call must end with EINTR. When the process repeats the call, the repeated call reports the
                // failure.
                cancellation.check();
            }
            end(null);
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
    public Dropped drop(Cancellation cancellation) throws ErrnoException {
        throw new ErrnoException(Errno.EOPNOTSUPP,
            "with the direct exchange, each write pushes its data at once, so there is no"
                + " gradient to drop; repeat the write that failed, or mount with --exchange sync or overlap");
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
        end(null);
        round = 0;
    }

    @Override
    public ExchangeCounters counters() {
        return counters;
    }

    @Override
    public ExchangeImage image() {
        return new ExchangeImage(new ExchangeImage.Learner(round > 0, false, 1, round, pushed, false, Dropped.NOTHING,
            rollback != null), 0, List.of());
    }

    @Override
    public void resume(ExchangeImage image, boolean killed) {
        pushed = image.learner().unfinished();
        end(image.learner().rollback() ? OnRollback.untold() : null);
        round = image.learner().round();
    }

    @Override
    public void resumeAfterKill(boolean mapped, IOException reason) {
        prepare(true, Cancellation.NONE);
        end(reason);
    }
}
