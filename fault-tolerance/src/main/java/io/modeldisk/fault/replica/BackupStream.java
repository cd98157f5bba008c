package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.fault.record.RecordBatch;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.dialect.VpdPage;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;

/**
 * A stream of records to one backup, over one session. The commands send the records directly from the memory of the batch.
 * One thread calls {@link #send} and {@link #await} in turn; any thread may call the other methods.
 */
final class BackupStream implements AutoCloseable {
    /** The maximum number of commands in flight. Each command carries a part of a batch. */
    static final int QUEUE_DEPTH = 16;

    private static final int PART_BYTES = 2 << 20;
    private static final int STAMP_PART_BYTES = 64 << 10;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final String name;
    private final IscsiSession session;
    private final DataMemory scratch;
    private final NanoClock clock;
    private final long timeoutNs;
    private final int batchBytes;
    private final IoRequest.Completion completion = this::completed;
    private final ScopedLock lock = new ScopedLock();
    private final Condition ended = lock.newCondition();
    // Used only by the thread that sends batches.
    private long batch = -1;
    private long deadlineNs;
    private RecordBatch records;
    /** For each request of the session, the part of the batch that it sends. */
    private final int[] partOfSlot = new int[QUEUE_DEPTH];
    // Guarded by lock.
    private int inFlight;
    private ShardException failure;
    /** The parts of the batch whose commands the backup has not executed, for example because of a unit attention. */
    private final BitSet unsent = new BitSet();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile long sentPosition;
    private volatile long appliedPosition;

    /**
     * Logs in to the backup and begins a stream.
     *
     * @param name the name of the backup in messages
     * @param context the configuration of the session
     * @param shareable whether the datamover needs shareable memory
     * @param timeoutNs the maximum time from the start of a batch until the backup has applied it
     * @throws IOException if the backup cannot be reached, or refuses the stream; the message has the reason
     */
    BackupStream(String name, SessionContext context, boolean shareable, long epoch, ModelFacts facts, NanoClock clock,
        long timeoutNs) throws IOException {
        this.name = name;
        this.clock = clock;
        this.timeoutNs = timeoutNs;
        this.scratch = shareable
            ? DataMemory.allocateShareable(STAMP_PART_BYTES)
            : DataMemory.allocate(STAMP_PART_BYTES);
        IscsiSession opened = null;
        try {
            opened = IscsiSession.login(context);
            this.session = opened;
            UnitReadiness.await(session, ReplicateCommand.LUN);
            checkProtocol();
            run(session.acquire(timeoutNs), ReplicateCommand.DATA_BYTES, ReplicateCommand.cdb(epoch, facts));
            this.batchBytes = ReplicateCommand.answer(bytes(ReplicateCommand.DATA_BYTES)).batchBytes();
        } catch (IOException | RuntimeException e) {
            if (opened != null) {
                opened.close();
            }
            scratch.close();
            throw e;
        }
    }

    /** Returns whether the backup can get records. */
    boolean isOpen() {
        return session.isOpen();
    }

    /** Checks the version of the protocol, which is also the version of the record format. The backup checks all other facts. */
    private void checkProtocol() throws IOException {
        run(session.acquire(timeoutNs), VpdPage.DATA_BYTES, VpdPage.cdb(ModelFacts.VPD_PAGE));
        byte[] page = VpdPage.content(ModelFacts.VPD_PAGE, bytes(VpdPage.DATA_BYTES));
        String obstacle = page == null
            ? session.shard().address() + " is not a backup of modeldisk: the target has no VPD page C0h"
            : ModelFacts.fromJson(page).protocolObstacle(session.shard().address());
        if (obstacle != null) {
            throw new ShardException(ShardException.Kind.REFUSED, session.shard(), obstacle);
        }
    }

    private byte[] bytes(int lengthBytes) {
        return scratch.slab(0).asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    }

    private void run(IoRequest request, int lengthBytes, byte[] cdb) throws IOException {
        begin();
        submit(checkNotNull(request).control(ReplicateCommand.LUN, cdb, scratch, 0, lengthBytes), false);
        await();
    }

    private IoRequest checkNotNull(IoRequest request) throws ShardException {
        if (request == null) {
            throw new ShardException(ShardException.Kind.PATH_LOST, session.shard(),
                session.shard() + ": the backup accepts no further command");
        }
        return request;
    }

    /** The position of the last record that the backup has applied. */
    long appliedPosition() {
        return appliedPosition;
    }

    /** Reads the stamps of the blocks that the backup has. Called before the first batch. */
    BlockStamps readStamps(int blocks) throws IOException {
        BlockStamps stamps = new BlockStamps(blocks, 0);
        int perPart = STAMP_PART_BYTES / BlockStamps.BYTES;
        for (int first = 0; first < blocks; first += perPart) {
            begin();
            long offset = (long) first * BlockStamps.BYTES;
            submit(checkNotNull(session.acquire(timeoutNs)).read(ReplicateCommand.LUN, offset / LogicalBlock.BYTES,
                STAMP_PART_BYTES / LogicalBlock.BYTES, scratch, 0, STAMP_PART_BYTES), false);
            await();
            for (int i = first; i < Math.min(blocks, first + perPart); i++) {
                long at = (long) (i - first) * BlockStamps.BYTES;
                stamps.set(i, scratch.slab(0).get(LONG, at), scratch.slab(0).get(LONG, at + Long.BYTES));
            }
        }
        return stamps;
    }

    /** Starts to send a batch. {@link #await} must follow, even if this method throws an exception. */
    void send(RecordBatch next) throws IOException {
        begin();
        batch++;
        records = next;
        sentPosition = next.lastPosition();
        int lengthBytes = sentBytes();
        if (lengthBytes > batchBytes) {
            throw fail(new ShardException(ShardException.Kind.REFUSED, session.shard(),
                session.shard() + ": a batch of "
                    + lengthBytes + " bytes exceeds the " + batchBytes
                    + " bytes that the backup accepts; start the backup with the"
                    + " same options as the primary"));
        }
        try {
            for (int part = 0; part * PART_BYTES < lengthBytes; part++) {
                sendPart(part);
            }
        } catch (ShardException e) {
            throw fail(e);
        }
    }

    /** The length of the batch with the zeros behind its records. */
    private int sentBytes() {
        return (int) LogicalBlock.up(records.lengthBytes());
    }

    private void sendPart(int part) throws IOException {
        int at = part * PART_BYTES;
        int bytes = Math.min(PART_BYTES, sentBytes() - at);
        long lba = (batch * batchBytes + at) / LogicalBlock.BYTES;
        IoRequest request = checkNotNull(session.acquire(deadlineNs - clock.nanoTime()));
        partOfSlot[request.slot()] = part;
        submit(request.write(ReplicateCommand.LUN, lba, bytes / LogicalBlock.BYTES, records.memory(),
            records.offset() + at, bytes), at + bytes < sentBytes());
    }

    private void begin() {
        deadlineNs = clock.nanoTime() + timeoutNs;
    }

    private void submit(IoRequest request, boolean more) throws ShardException {
        request.onCompletion(completion);
        try (ScopedLock.Held _ = lock.hold()) {
            inFlight++;
        }
        try {
            session.submit(request, more);
        } catch (ShardException | RuntimeException e) {
            end(null);
            throw e;
        }
    }

    private void completed(IoRequest request) {
        boolean again = request.isToBeRetried() && request.writes();
        if (again) {
            try (ScopedLock.Held _ = lock.hold()) {
                unsent.set(partOfSlot[request.slot()]);
            }
        }
        end(request.isGood() || again ? null : request.exception(session.shard(), "sending records"));
    }

    private void end(ShardException reason) {
        try (ScopedLock.Held _ = lock.hold()) {
            inFlight--;
            if (failure == null) {
                failure = reason;
            }
            ended.signalAll();
        }
    }

    private ShardException fail(ShardException reason) {
        try (ScopedLock.Held _ = lock.hold()) {
            if (failure == null) {
                failure = reason;
            }
            return failure;
        }
    }

    /**
     * Waits until all commands have ended. Sends a part of the batch again if the backup has not executed it. If this takes
     * longer than the timeout, closes the session. When this method returns, no command uses the memory of the batch.
     *
     * @throws IOException if a command has failed; the stream must then be closed
     */
    void await() throws IOException {
        boolean inTime = awaitEnds();
        for (int part = takeUnsent(); inTime && part >= 0; part = takeUnsent()) {
            try {
                sendPart(part);
            } catch (ShardException e) {
                fail(e);
            }
            inTime = awaitEnds() && clock.nanoTime() - deadlineNs < 0;
        }
        if (!inTime) {
            fail(new ShardException(ShardException.Kind.PATH_LOST, session.shard(),
                session.shard() + ": the backup has not applied records within " + timeoutNs / 1_000_000 + " ms"));
            session.disconnect();
        }
        ShardException reason = failure();
        if (reason != null) {
            throw reason.again();
        }
        appliedPosition = sentPosition;
    }

    private ShardException failure() {
        try (ScopedLock.Held _ = lock.hold()) {
            return failure;
        }
    }

    /** Returns a part that must be sent again; -1 if there is none, or if the stream has failed. */
    private int takeUnsent() {
        try (ScopedLock.Held _ = lock.hold()) {
            int part = failure == null ? unsent.nextSetBit(0) : -1;
            if (part >= 0) {
                unsent.clear(part);
            }
            return part;
        }
    }

    private boolean awaitEnds() throws InterruptedIOException {
        lock.lock();
        try {
            boolean inTime = true;
            while (inFlight > 0 && inTime) {
                inTime = clock.awaitUntil(ended, deadlineNs);
            }
            return inFlight == 0;
        } catch (InterruptedException e) {
            session.disconnect();
            throw Interruption.whileIt("waited for backup " + name);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        session.close();
        scratch.close();
    }
}
