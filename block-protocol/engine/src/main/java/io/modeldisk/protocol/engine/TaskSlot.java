package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.DataPlace;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.Sense;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A slot for one command in flight, with the resources of the command: CDB, chunk of memory, and transfer. The slot is reused for
 * later commands. {@link TaskState} describes which thread or component owns the slot.
 */
final class TaskSlot implements IoTask {
    /** The maximum number of chunks of one command. A chunk has 256 KiB, so one command can transfer at most 8 MiB. */
    static final int MAX_CHUNKS = 32;

    private static final int REASON_BITS = 8;
    private static final int REASON_MASK = (1 << REASON_BITS) - 1;

    final DecodedCommand command = new DecodedCommand();
    final DataTransfer transfer;
    final Pins pins = new Pins();
    /** The data that did not arrive with the command. */
    RemainingData remainingData;
    private final TargetConnection connection;
    private final DataMemory memory;
    private final long chunk;
    /** Null if the target has no device memory for data. */
    private final DevicePool devicePool;
    private final DataPlace onDevice;
    /** The number of tasks of the session that wait for data. All slots of the session share this counter. */
    private final AtomicInteger awaitingData;
    private final AtomicReference<TaskState> state = new AtomicReference<>(TaskState.FREE);
    /**
     * The number of commands that have begun in this slot, and the {@link EndReason} of the last command. One number contains
     * both values. A thread that has decided to end a command can therefore never end the next command of the slot instead.
     */
    private final AtomicLong end = new AtomicLong();
    private volatile long waitingSinceNs;
    /** The sense of a failed task. Written before {@link EndReason#FAILED} is set. */
    private Sense failure;
    /** Guarded by {@code this}. */
    private long putNumber;
    private int chunks = 1;
    private int deviceChunks;
    /** Used only by the owner of the task. */
    private long logPosition;
    /** Used only by the owner of the task. */
    private long deviceTicket;

    /** Creates a slot. {@code devicePool} is null if the target has no device memory for data. */
    TaskSlot(
        int index, TargetConnection connection, DataMemory memory, long chunk, DevicePool devicePool,
        AtomicInteger awaitingData) {
        this.connection = connection;
        this.devicePool = devicePool;
        this.onDevice = devicePool == null
            ? null
            : new DataPlace(devicePool.memory(), BufferPool.CHUNK_BYTES, MAX_CHUNKS);
        this.memory = memory;
        this.chunk = chunk;
        this.awaitingData = awaitingData;
        this.transfer = new DataTransfer(index, memory, BufferPool.CHUNK_BYTES, MAX_CHUNKS);
        this.transfer.pieces().piece(0, chunk);
    }

    /** Resets the slot for a new command. */
    void begin(ScsiCommandPdu pdu) {
        command.begin(pdu);
        remainingData = null;
        failure = null;
        // setRelease() is sufficient, because the change of state below publishes the value to other threads.
        end.setRelease(generation() + 1 << REASON_BITS);
        waitingSinceNs = 0;
        logPosition = 0;
        deviceTicket = 0;
        become(TaskState.RECEIVING);
    }

    TaskState state() {
        return state.get();
    }

    boolean isActive() {
        return state.get() != TaskState.FREE;
    }

    /**
     * Changes the state of the task. Called by the owner of the task.
     *
     * @throws IllegalStateException if {@link TaskState} has no such transition
     */
    void become(TaskState next) {
        TaskState now = state.get();
        while (!tryBecome(now, next)) {
            now = state.get();
        }
    }

    /** Changes the state of the task if the task is in the expected state. Returns whether the state was changed. */
    private boolean tryBecome(TaskState expected, TaskState next) {
        if (!expected.mayBecome(next)) {
            throw new IllegalStateException(
                "the task in slot " + transfer.slot() + " cannot change from " + expected + " to " + next);
        }
        if (!state.compareAndSet(expected, next)) {
            return false;
        }
        count(expected, next);
        return true;
    }

    private void count(TaskState before, TaskState next) {
        if (before.awaitsData() != next.awaitsData()) {
            awaitingData.addAndGet(next.awaitsData() ? 1 : -1);
        }
    }

    /** Changes the state of the task to ENDING. Called after the connection is closed and no thread serves it any more. */
    void takeAbandoned() {
        count(state.getAndSet(TaskState.ENDING), TaskState.ENDING);
    }

    /**
     * Returns the number of commands that have begun in this slot. A thread reads this number before it decides to end a command
     * that another thread runs.
     */
    long generation() {
        return end.get() >> REASON_BITS;
    }

    /** Sets the reason to end the task early. Called only while no other command can begin in this slot. */
    void endFor(EndReason reason) {
        endFor(reason, generation());
    }

    /**
     * Sets the reason to end the task early, which the task's owner checks. Returns false and does nothing if {@code generation}
     * is not the current {@link #generation}, because another command has begun in the slot. Can be called by any thread.
     */
    boolean endFor(EndReason reason, long generation) {
        long now = end.get();
        while (now >> REASON_BITS == generation) {
            EndReason later = EndReason.later(EndReason.of((int) now & REASON_MASK), reason);
            if (end.compareAndSet(now, generation << REASON_BITS | later.ordinal())) {
                return true;
            }
            now = end.get();
        }
        return false;
    }

    /** Records that the task failed. Called by the task's owner, or by the receiver thread while the task waits for memory. */
    void fail(Sense sense) {
        failure = sense;
        endFor(EndReason.FAILED);
    }

    EndReason endReason() {
        return EndReason.of((int) end.get() & REASON_MASK);
    }

    /** True if the task must end early. */
    boolean isToEnd() {
        return endReason() != EndReason.NONE;
    }

    /** Returns the sense of a failed task, or null if the task has not failed. */
    Sense failure() {
        return failure;
    }

    /** Records that the task begins to wait for memory or for data. */
    void waits(long nowNs) {
        waitingSinceNs = nowNs;
    }

    /** Records that the task no longer waits for memory, for data or for its logical unit. */
    void endWait() {
        waitingSinceNs = 0;
    }

    /** Returns the time at which the wait for memory, data or the logical unit began, or 0 if the task does not wait. */
    long waitingSinceNs() {
        return waitingSinceNs;
    }

    /** Parks the task. Returns false if the task was already resumed. The caller must then run the task again. */
    boolean park(long nowNs) {
        if (waitingSinceNs == 0) {
            waitingSinceNs = nowNs;
        }
        if (tryBecome(TaskState.RUNNING, TaskState.PARKED)) {
            return true;
        }
        become(TaskState.RUNNING);
        return false;
    }

    /** Claims a parked task from its logical unit. Returns false if the task is not parked. */
    boolean takeParked() {
        return tryBecome(TaskState.PARKED, TaskState.RUNNING);
    }

    @Override
    public void resume() {
        while (true) {
            switch (state.get()) {
                case PARKED -> {
                    if (tryBecome(TaskState.PARKED, TaskState.QUEUED)) {
                        connection.schedule(this);
                        return;
                    }
                }
                case RUNNING -> {
                    if (tryBecome(TaskState.RUNNING, TaskState.RESUMED)) {
                        return;
                    }
                }
                default -> {
                    return;
                }
            }
        }
    }

    /** Schedules the task for the responder thread, which runs the task later. */
    void leaveToResponder() {
        become(TaskState.QUEUED);
        connection.schedule(this);
    }

    /** Schedules the task for the responder thread, which requests the data. Called when the task has received its memory. */
    void chunksGranted() {
        connection.schedule(this);
    }

    /**
     * Makes the RDMA device the owner of the task while the last Put_Data is in progress. {@code number} is the sequence number
     * of this Put_Data. The caller holds the lock of this slot.
     */
    void leavePut(long number) {
        putNumber = number;
        become(TaskState.PUTTING);
    }

    /** Returns the sequence number of the Put_Data in progress, or {@link Long#MAX_VALUE} if no Put_Data is in progress. */
    synchronized long putNumber() {
        return state.get() == TaskState.PUTTING ? putNumber : Long.MAX_VALUE;
    }

    /** Claims a task whose last Put_Data is in progress. Returns true to only one caller. */
    synchronized boolean takePut() {
        return tryBecome(TaskState.PUTTING, TaskState.ENDING);
    }

    /** Releases the pins of a read. */
    void unpin() {
        pins.release(command.access == MediumAccess.READ ? command.unit : null);
    }

    /** True if a pin of the task refers to the task's scratch memory. */
    boolean usesScratch() {
        return pins.holds(memory, chunk);
    }

    /** Returns the number of chunks that the task still needs for its data. */
    int extraChunksWanted() {
        return transfer.piecesFor(transfer.lengthBytes()) - chunks;
    }

    void addChunk(long chunkOffset) {
        transfer.pieces().piece(chunks++, chunkOffset);
    }

    /** Removes the last additional chunk. Returns the offset of the chunk, or -1 if the task has no additional chunk. */
    long removeChunk() {
        return chunks > 1 ? transfer.pieces().piece(--chunks) : -1;
    }

    /**
     * Takes device memory for the data of the task, if the logical unit permits device memory, no data has arrived yet, and
     * enough device memory is free. Returns whether the task has received device memory.
     */
    boolean takeDeviceMemory() {
        if (devicePool == null || command.access != MediumAccess.WRITE || transfer.receivedBytes() > 0
            || !command.unit.takesDeviceData(this) || !devicePool.take(this)) {
            return false;
        }
        transfer.liesIn(onDevice);
        return true;
    }

    int deviceChunksWanted() {
        return Math.ceilDiv(transfer.lengthBytes(), BufferPool.CHUNK_BYTES);
    }

    void addDeviceChunk(long offset) {
        onDevice.piece(deviceChunks++, offset);
    }

    /** Returns the task's device memory, if any, to the pool. The datamover must already have forgotten the transfer. */
    void giveDeviceMemory() {
        while (deviceChunks > 0) {
            devicePool.give(onDevice.piece(--deviceChunks));
        }
    }

    @Override
    public Nexus nexus() {
        return connection.nexus();
    }

    @Override
    public long offset() {
        return command.offset * valueType().widening();
    }

    @Override
    public int lengthBytes() {
        return ((command.moveBytes + LogicalBlock.BYTES - 1) & -LogicalBlock.BYTES) * valueType().widening();
    }

    @Override
    public ValueType valueType() {
        return command.unit.valueType();
    }

    @Override
    public long round() {
        return command.round;
    }

    @Override
    public boolean declaredFinite() {
        return command.finite;
    }

    @Override
    public boolean isAbsent() {
        return command.access == MediumAccess.MARK;
    }

    @Override
    public boolean declaredNonFinite() {
        return command.nonFinite;
    }

    @Override
    public void addMarked(int logicalBlocks) {
        command.marked += logicalBlocks;
    }

    @Override
    public int marked() {
        return command.marked;
    }

    @Override
    public void addAbsent(int logicalBlocks) {
        command.absent += logicalBlocks;
    }

    @Override
    public int absentBlocks() {
        return command.absent;
    }

    @Override
    public DataMemory memory() {
        return command.access.takesData() ? transfer.memory() : memory;
    }

    @Override
    public int pieceCount() {
        return transfer.piecesFor(command.moveBytes);
    }

    @Override
    public long pieceOffset(int index) {
        return transfer.place().piece(index);
    }

    @Override
    public int pieceLengthBytes(int index) {
        int pieceBytes = transfer.place().pieceBytes();
        return Math.min(pieceBytes, command.moveBytes - index * pieceBytes);
    }

    @Override
    public long logPosition() {
        return logPosition;
    }

    @Override
    public void logPosition(long position) {
        logPosition = position;
    }

    @Override
    public long deviceTicket() {
        return deviceTicket;
    }

    @Override
    public void deviceTicket(long ticket) {
        deviceTicket = ticket;
    }

    @Override
    public long scratchOffset() {
        return chunk;
    }

    @Override
    public int scratchBytes() {
        return BufferPool.CHUNK_BYTES;
    }
}
