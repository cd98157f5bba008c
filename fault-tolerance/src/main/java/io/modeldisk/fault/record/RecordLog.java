package io.modeldisk.fault.record;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.WaitingTasks;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;

/**
 * The records of a shard, in one order, and the tasks that wait until their records are durable. Records are collected in a
 * buffer. The {@link RecordCommitter}'s thread gives a full or partly full buffer to all sinks, while the next records are
 * collected in the other buffer, so many records become durable together, without a timer.
 *
 * <p><b>Order.</b> A record of a block is appended under the lock of the block, and a record of the learners under the lock of
 * {@link io.modeldisk.fault.membership.Membership}, so the records are in the order of the changes. The committer acquires
 * neither of these locks.
 *
 * <p><b>Room.</b> A change reserves room for its records before it acquires locks ({@link #reserve}), so it never waits under a
 * lock. Two kinds of records have no reservation: small records that belong to no write, and the BLOCK records of a checkpoint.
 * One eighth of the buffer is kept for them. If they need more, they wait under the lock. A BLOCK record does not use the room
 * that writes have reserved, and leaves a part of the other room to the small records. If a sink fails, therefore, no write waits
 * under a lock for room that a BLOCK record has taken. The exception is a BLOCK record that needs more than one eighth of the
 * buffer: it is appended if the buffer is empty.
 *
 * <p><b>Failure.</b> If a sink fails, the records stay in the buffers, {@link #reserve} refuses new changes, and the committer
 * tries again until the sink works.
 *
 * <p>Thread-safe. Appending allocates no memory.
 */
public final class RecordLog implements AutoCloseable {
    /** The default size of each of the two buffers: 32 MiB. */
    public static final int DEFAULT_BUFFER_BYTES = 32 << 20;
    /** The maximum time for which {@link #awaitLearnersDurable} waits. */
    static final Duration MAX_WAIT = Duration.ofSeconds(5);

    /** The part of a buffer that BLOCK records leave free for small records: one thirty-second. */
    private static final int SMALL_PART = 32;
    private static final MemorySegment NO_BODY = MemorySegment.NULL;

    private final NanoClock clock;
    private final int bufferBytes;
    private final DataMemory bufferMemory;
    private final MemorySegment memory;
    private final RecordBuffer[] buffers;
    private final RecordCommitter committer;
    private final long epoch;
    /** The stamps of the blocks; null if no backup needs them. */
    private final BlockStamps stamps;

    private final ScopedLock lock = new ScopedLock();
    /** Signalled when the committer has something to do. */
    private final Condition work = lock.newCondition();
    /** Signalled when a buffer has become free. */
    private final Condition room = lock.newCondition();
    /** Signalled when records have become durable, or a sink has failed. */
    private final Condition progress = lock.newCondition();
    // The following fields are guarded by the lock. Some are read without it.
    private final WaitingTasks durableTasks = new WaitingTasks();
    private final RoomTasks roomTasks = new RoomTasks();
    /** The buffer in which records are collected. The other buffer is empty, or the committer is using it. */
    private RecordBuffer active;
    private boolean roomReleased;
    private boolean closed;
    private volatile long position;
    private volatile long durable;
    /** The position of the last record that changed the learners or the learning rate. */
    private volatile long learnersPosition;
    private volatile String failure;
    private volatile String refusal;
    /** Memory for the tasks that the committer resumes. Used only by the committer. */
    private IoTask[] resumed = new IoTask[64];

    /**
     * Creates a log and starts its thread.
     *
     * @param sinks the sinks, which the log closes; at least one
     * @param bufferBytes the size of each of the two buffers, a multiple of {@value RecordBatch#ALIGNMENT}
     * @param bufferMemory the memory of both buffers, which the log closes
     * @param firstPosition the position of the first record, at least 1; after a replay, one more than the last position
     * @param epoch the epoch of the primary; 0 without a coordinator
     * @param stamps the stamps of the blocks, which the log keeps current; null if no backup needs them
     * @param lost is called by the thread if it fails because of an error in modeldisk, before any task is notified of it
     * @param name the model and the number of the shard, for the name of the thread
     */
    public RecordLog(List<RecordSink> sinks, int bufferBytes, DataMemory bufferMemory, long firstPosition, long epoch,
        BlockStamps stamps, NanoClock clock, Consumer<Throwable> lost, String name) {
        if (bufferBytes % RecordBatch.ALIGNMENT != 0 || bufferBytes <= 0 || bufferBytes > DataMemory.SLAB_BYTES / 2) {
            throw new IllegalArgumentException("bufferBytes=" + bufferBytes + " must be a multiple of "
                + RecordBatch.ALIGNMENT + " up to " + DataMemory.SLAB_BYTES / 2);
        }
        this.clock = clock;
        this.bufferBytes = bufferBytes;
        this.position = firstPosition - 1;
        this.durable = position;
        this.bufferMemory = bufferMemory;
        this.epoch = epoch;
        this.stamps = stamps;
        this.memory = bufferMemory.slab(0);
        this.buffers = new RecordBuffer[]{new RecordBuffer(new RecordBatch(bufferMemory, 0)),
            new RecordBuffer(new RecordBatch(bufferMemory, bufferBytes))};
        this.active = buffers[0];
        this.committer = new RecordCommitter(this, sinks, clock, lost, name);
        committer.start();
    }

    /** Appends a piece of a gradient that was accepted, see {@link RecordKind#PUSH}. The caller holds the lock of the block. */
    public void push(int block, int offset, MemorySegment data, long dataOffset, int lengthBytes, long learner,
        long round, long version) {
        append(RecordKind.PUSH, (byte) 0, block, offset, lengthBytes, learner, round, version, data, dataOffset,
            lengthBytes);
    }

    /** Appends a piece of a push without its gradient, see {@link RecordHeader#WITHOUT_DATA}. */
    public void pushWithoutData(int block, int offset, int lengthBytes, long learner, long round, long version) {
        append(RecordKind.PUSH, RecordHeader.WITHOUT_DATA, block, offset, lengthBytes, learner, round, version, NO_BODY,
            0, 0);
    }

    /** Appends a record of the end of a block's open round, see {@link RecordKind#CLOSE}. */
    public void closeRound(int block, long openRound, long version) {
        append(RecordKind.CLOSE, (byte) 0, block, 0, 0, 0, openRound, version, NO_BODY, 0, 0);
    }

    /**
     * Appends a record of weights that were replaced, see {@link RecordKind#RAW}.
     *
     * @param lengthBytes the length of the range
     * @param dataBytes the length of the data, which is repeated until the range is full; 0 if the range was filled with zeros
     */
    public void raw(int block, int offset, int lengthBytes, MemorySegment data, long dataOffset, int dataBytes,
        long version) {
        append(RecordKind.RAW, (byte) 0, block, offset, lengthBytes, 0, 0, version, data, dataOffset, dataBytes);
    }

    /**
     * Appends a record without a gradient.
     *
     * @return the position of the record; -1 if the record is a {@link RecordKind#BLOCK} and a sink has failed, because a
     *     checkpoint must not wait for a sink under the lock of a block
     */
    public long append(
        RecordKind kind, byte flags, int block, int place, long learner, long round, long version, int bodyBytes,
        BodyWriter body) {
        long at;
        long appended;
        try (ScopedLock.Held _ = lock.hold()) {
            at = claim(kind, flags, block, place, 0, learner, round, version, bodyBytes);
            appended = position;
        }
        if (at < 0) {
            return -1;
        }
        boolean whole = false;
        try {
            body.write(memory, at + RecordHeader.BYTES);
            whole = true;
        } finally {
            finish(at, bodyBytes, whole);
        }
        return appended;
    }

    private void append(RecordKind kind, byte flags, int block, int offset, int rangeBytes, long learner, long round,
        long version, MemorySegment data, long dataOffset, int bodyBytes) {
        long at;
        try (ScopedLock.Held _ = lock.hold()) {
            at = claim(kind, flags, block, offset, rangeBytes, learner, round, version, bodyBytes);
        }
        boolean whole = false;
        try {
            MemorySegment.copy(data, dataOffset, memory, at + RecordHeader.BYTES, bodyBytes);
            whole = true;
        } finally {
            finish(at, bodyBytes, whole);
        }
    }

    /**
     * Takes room and the next position for a record, and writes its header.
     *
     * @return the offset of the record in memory; -1 if the record is refused
     */
    private long claim(RecordKind kind, byte flags, int block, int offset, int rangeBytes, long learner, long round,
        long version, int bodyBytes) {
        int recordBytes = (int) RecordHeader.recordBytes(bodyBytes);
        if (recordBytes > bufferBytes) {
            throw new IllegalArgumentException("a record of " + recordBytes + " bytes does not fit in a buffer of "
                + bufferBytes + " bytes");
        }
        while (!closed && (failure == null || kind != RecordKind.BLOCK) && !hasRoom(kind, recordBytes)) {
            room.awaitUninterruptibly();
        }
        if (failure != null && kind == RecordKind.BLOCK) {
            return -1;
        }
        if (closed) {
            throw new IllegalStateException("the record log is closed");
        }
        if (active.used() == 0) {
            active.begins(clock.nanoTime());
            work.signal();
        }
        long next = position + 1;
        long at = active.take(recordBytes, next, kind == RecordKind.ROSTER);
        RecordHeader.put(memory, at, kind, flags, block, offset, rangeBytes, learner, round, version, bodyBytes, next,
            epoch);
        if (stamps != null && kind.changesBlock()) {
            stamps.set(block, epoch, next);
        }
        position = next;
        if (kind == RecordKind.LEARNER || kind == RecordKind.RATE) {
            learnersPosition = next;
        }
        return at;
    }

    private boolean hasRoom(RecordKind kind, int recordBytes) {
        long used = active.used();
        // If writes have reserved more than a whole buffer, they wait for room anyway, so the record need not leave them room.
        if (kind != RecordKind.BLOCK || roomTasks.reserved() > bufferBytes) {
            return used + recordBytes <= bufferBytes;
        }
        // In an empty buffer, the record must not wait, as writes with reserved room might wait for the lock of the block.
        return used == 0 || used + roomTasks.reserved() + recordBytes <= bufferBytes - bufferBytes / SMALL_PART;
    }

    private void finish(long at, int bodyBytes, boolean whole) {
        RecordHeader.pad(memory, at, bodyBytes);
        buffers[at < bufferBytes ? 0 : 1].copied(whole, committer.thread());
    }

    /**
     * Reserves room for the records of a write, before the write acquires locks. If there is no room, the task waits. The caller
     * calls {@link #release} after the write was accepted, refused or made to wait for another reason.
     *
     * @return false if the task waits; it is resumed when there might be room
     * @throws ScsiException if a sink has failed, so no change can be kept
     */
    public boolean reserve(IoTask task) throws ScsiException {
        try (ScopedLock.Held _ = lock.hold()) {
            if (failure == null && refusal == null && !closed) {
                return roomTasks.reserve(task, active.used(), bufferBytes);
            }
        }
        forget(task);
        throw notKept();
    }

    /**
     * Refuses new changes, although the sinks work. Records of a checkpoint are still appended.
     *
     * @param reason the reason; null to admit changes again
     */
    public void refuse(String reason) {
        List<IoTask> writes;
        try (ScopedLock.Held _ = lock.hold()) {
            refusal = reason;
            writes = roomTasks.writes();
        }
        writes.forEach(IoTask::resume);
    }

    /**
     * Checks that records can be kept at present.
     *
     * @throws ScsiException if a sink has failed, or changes are refused
     */
    public void requireKept() throws ScsiException {
        if (failure != null || refusal != null) {
            throw notKept();
        }
    }

    /** Releases the room that {@link #reserve} has reserved for a task. The caller holds no lock. */
    public void release(IoTask task) {
        List<IoTask> synchronizations;
        try (ScopedLock.Held _ = lock.hold()) {
            synchronizations = roomTasks.release(task);
            if (!roomTasks.isEmpty()) {
                roomReleased = true;
                work.signal();
            }
        }
        resumeAll(synchronizations);
    }

    /**
     * Returns whether no earlier write of the task's nexus waits for room. Otherwise the task waits for these writes, and is then
     * resumed.
     */
    public boolean admitSynchronization(IoTask task) {
        try (ScopedLock.Held _ = lock.hold()) {
            return roomTasks.admit(task);
        }
    }

    /**
     * Returns whether all records that were appended before the first call with this task are durable. Otherwise the task
     * waits, its {@link IoTask#logPosition} is not 0, and it is resumed when the records are durable.
     */
    public boolean isDurable(IoTask task) {
        boolean first = task.logPosition() == 0;
        long wanted = first ? position : task.logPosition();
        if (durable >= wanted) {
            return true;
        }
        try (ScopedLock.Held _ = lock.hold()) {
            if (durable >= wanted) {
                return true;
            }
            task.logPosition(wanted);
            if (first || !durableTasks.contains(task)) {
                durableTasks.add(task, wanted);
            }
            return false;
        }
    }

    /** Resumes tasks. Creates no iterator in the usual case, in which the list is empty. */
    private static void resumeAll(List<IoTask> tasks) {
        for (int i = 0; i < tasks.size(); i++) {
            tasks.get(i).resume();
        }
    }

    /** Removes a task from the waiting tasks. Does nothing if the task does not wait. The caller holds no lock. */
    public void forget(IoTask task) {
        List<IoTask> synchronizations;
        try (ScopedLock.Held _ = lock.hold()) {
            durableTasks.remove(task);
            synchronizations = roomTasks.remove(task);
        }
        resumeAll(synchronizations);
    }

    /**
     * Waits at most 5 s until all appended records of the learners and of the learning rate are durable.
     *
     * @throws ScsiException if the records are not durable, because a sink has failed or the wait was too long
     */
    public void awaitLearnersDurable() throws ScsiException {
        long wanted = learnersPosition;
        try {
            awaitDurable(wanted, MAX_WAIT, true);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (durable < wanted) {
            throw notKept();
        }
    }

    /**
     * Waits until a record is durable, for a limited time.
     *
     * @return whether the record is durable
     */
    public boolean awaitDurable(long recordPosition, Duration limit) throws InterruptedException {
        return awaitDurable(recordPosition, limit, false);
    }

    private boolean awaitDurable(long wanted, Duration limit, boolean untilFailure) throws InterruptedException {
        try (ScopedLock.Held _ = lock.hold()) {
            long deadlineNs = clock.nanoTime() + limit.toNanos();
            boolean inTime = true;
            while (durable < wanted && !closed && inTime && !(untilFailure && failure != null)) {
                inTime = clock.awaitUntil(progress, deadlineNs);
            }
            return durable >= wanted;
        }
    }

    private ScsiException notKept() {
        String reason = failure != null ? failure : refusal;
        return new ScsiException(RoundSense.NOT_KEPT.sense(), "the shard cannot keep a record of the change: "
            + (reason != null ? reason : "the records did not become durable within " + MAX_WAIT.toSeconds() + " s"));
    }

    /** The progress of the log. */
    public RecordStatus status() {
        long durableNow = durable;
        return new RecordStatus(position, durableNow, failure != null ? failure : refusal);
    }

    /** Returns the records after a position, which a reader has not applied yet. The reader applies whole batches. */
    public RecordBacklog after(long applied) {
        try (ScopedLock.Held _ = lock.hold()) {
            long bytes = 0;
            long sinceNs = clock.nanoTime();
            for (RecordBuffer each : buffers) {
                if (each.used() > 0 && each.lastPosition() > applied) {
                    bytes += each.used();
                    sinceNs = Math.min(sinceNs, each.firstNs());
                }
            }
            return new RecordBacklog(position - applied, bytes, clock.nanoTime() - sinceNs);
        }
    }

    /**
     * Waits until there are records, and makes the other buffer active. Called by the committer.
     *
     * @return the buffer with the records; null if the log is closed and all records have been returned
     */
    RecordBuffer next() {
        RecordBuffer filled = null;
        while (filled == null) {
            List<IoTask> writes;
            try (ScopedLock.Held _ = lock.hold()) {
                while (!closed && active.used() == 0 && !roomReleased) {
                    work.awaitUninterruptibly();
                }
                if (active.used() > 0) {
                    filled = active;
                    active = buffers[active == buffers[0] ? 1 : 0];
                    room.signalAll();
                } else if (closed) {
                    return null;
                }
                roomReleased = false;
                writes = roomTasks.writes();
            }
            resumeAll(writes);
        }
        return filled;
    }

    /** Records that a buffer is durable, and resumes the tasks that wait for this. Called by the committer. */
    void committed(RecordBuffer buffer) {
        try (ScopedLock.Held _ = lock.hold()) {
            durable = buffer.lastPosition();
            buffer.clear();
            failure = null;
            resumed = durableTasks.drain(durable, resumed);
            progress.signalAll();
        }
        for (int i = 0; resumed[i] != null; i++) {
            resumed[i].resume();
            resumed[i] = null;
        }
    }

    /**
     * Records that a sink has failed, and waits for a delay. Called by the committer.
     *
     * @return false if the log is closed, so no other attempt may be made
     */
    boolean failed(String reason, Duration delay) {
        List<IoTask> writes;
        try (ScopedLock.Held _ = lock.hold()) {
            failure = reason;
            progress.signalAll();
            room.signalAll();
            writes = roomTasks.writes();
        }
        // The writes are tried again, and reserve() refuses them because of the failure.
        resumeAll(writes);
        lock.lock();
        try {
            long deadlineNs = clock.nanoTime() + delay.toNanos();
            while (!closed && clock.awaitUntil(work, deadlineNs)) {
                // A signal for new records does not end the delay.
            }
        } catch (InterruptedException e) {
            // Ignored, because only close() stops the committer.
        } finally {
            lock.unlock();
        }
        return !closed;
    }

    /**
     * Gives the remaining records to the sinks, and closes the sinks. Takes a bounded time, even if a sink does not return. May
     * be called only when no task is in progress. A second call does nothing.
     */
    @Override
    public void close() {
        try (ScopedLock.Held _ = lock.hold()) {
            if (closed) {
                return;
            }
            closed = true;
            work.signalAll();
            room.signalAll();
            progress.signalAll();
        }
        if (committer.end()) {
            bufferMemory.close();
        }
    }
}
