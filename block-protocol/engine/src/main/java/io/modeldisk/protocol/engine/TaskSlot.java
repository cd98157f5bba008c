package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.Sense;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A place for one command in flight, with all that it needs: CDB, chunk of memory, transfer. Reused for the next command.
 * {@link TaskState} names its owner.
 */
final class TaskSlot implements IoTask {
    /** The most chunks of one command: the longest transfer is this many times 256 KiB. */
    static final int MAX_CHUNKS = 32;

    final DecodedCommand command = new DecodedCommand();
    final DataTransfer transfer;
    final Pins pins = new Pins();
    /** Fetches the data that did not come with the command. */
    RemainingData remainingData;
    /** The next slot in the {@link BufferPool}'s queue. */
    TaskSlot nextWaiting;

    private final TargetConnection connection;
    private final DataMemory memory;
    private final long chunk;
    /** The number of the session's tasks that await data. */
    private final AtomicInteger awaitingData;
    private final AtomicReference<TaskState> state = new AtomicReference<>(TaskState.FREE);
    private final AtomicReference<EndReason> endReason = new AtomicReference<>(EndReason.NONE);
    private volatile long waitingSinceNs;
    /** Set before {@link EndReason#FAILED}. */
    private Sense failure;
    /** Guarded by this. */
    private long putNumber;
    private int chunks = 1;

    TaskSlot(int index, TargetConnection connection, DataMemory memory, long chunk, AtomicInteger awaitingData) {
        this.connection = connection;
        this.memory = memory;
        this.chunk = chunk;
        this.awaitingData = awaitingData;
        this.transfer = new DataTransfer(index, memory, BufferPool.CHUNK_BYTES, MAX_CHUNKS);
        this.transfer.pieces().piece(0, chunk);
    }

    /** Starts over for a command. */
    void begin(ScsiCommandPdu pdu) {
        command.begin(pdu);
        remainingData = null;
        failure = null;
        // The change of state publishes it.
        endReason.setRelease(EndReason.NONE);
        waitingSinceNs = 0;
        become(TaskState.RECEIVING);
    }

    TaskState state() {
        return state.get();
    }

    boolean isActive() {
        return state.get() != TaskState.FREE;
    }

    /**
     * Moves the task to another state; for its owner.
     *
     * @throws IllegalStateException if {@link TaskState} has no such transition
     */
    void become(TaskState next) {
        TaskState now = state.get();
        while (!tryBecome(now, next)) {
            now = state.get();
        }
    }

    /** Moves the task to another state if it is in the expected state. Returns whether it was. */
    private boolean tryBecome(TaskState expected, TaskState next) {
        if (!expected.mayBecome(next)) {
            throw new IllegalStateException(
                "task slot " + transfer.slot() + ": " + expected + " cannot become " + next);
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

    /** Takes a task in any state, after its connection has ended and no thread serves it any more. */
    void takeAbandoned() {
        count(state.getAndSet(TaskState.ENDING), TaskState.ENDING);
    }

    /** Lets the task end early as soon as its owner looks. Any thread. */
    void endFor(EndReason reason) {
        endReason.accumulateAndGet(reason, EndReason::later);
    }

    /** The command, its data or its unit has failed; for the owner, or the receiver while data is awaited. */
    void fail(Sense sense) {
        failure = sense;
        endFor(EndReason.FAILED);
    }

    EndReason endReason() {
        return endReason.get();
    }

    /** Whether the task is to end early. */
    boolean isToEnd() {
        return endReason.get() != EndReason.NONE;
    }

    /** The sense of a task that has failed; else null. */
    Sense failure() {
        return failure;
    }

    /** The wait for data begins. */
    void waits(long nowNs) {
        waitingSinceNs = nowNs;
    }

    /** The wait for data or for the logical unit is over. */
    void endWait() {
        waitingSinceNs = 0;
    }

    /** When the wait for data or for the logical unit began; 0 without a wait. */
    long waitingSinceNs() {
        return waitingSinceNs;
    }

    /** Leaves the task to its logical unit until it is resumed. Returns false if it was resumed already: the caller goes on. */
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

    /** Takes a task from its logical unit. Returns false if it is not parked. */
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

    /** Leaves the task to the responder, which runs it later. */
    void leaveToResponder() {
        become(TaskState.QUEUED);
        connection.schedule(this);
    }

    /** The pool has granted the task's memory: the responder requests its data. */
    void chunksGranted() {
        connection.schedule(this);
    }

    /** Leaves the put to the device. Puts end in the order of their numbers. With the lock. */
    void leavePut(long number) {
        putNumber = number;
        become(TaskState.PUTTING);
    }

    /** The number of the put that is under way; {@link Long#MAX_VALUE} if none is. */
    synchronized long putNumber() {
        return state.get() == TaskState.PUTTING ? putNumber : Long.MAX_VALUE;
    }

    /** Takes a put that is under way, and its task. Returns true to one caller only. */
    synchronized boolean takePut() {
        return tryBecome(TaskState.PUTTING, TaskState.ENDING);
    }

    /** Releases the pins of a read. */
    void unpin() {
        pins.release(command.access == MediumAccess.READ ? command.unit : null);
    }

    /** Whether a copy in its scratch memory is pinned. */
    boolean usesScratch() {
        return pins.holds(memory, chunk);
    }

    /** The number of chunks that the transfer needs beyond those it has. */
    int extraChunksWanted() {
        return transfer.piecesFor(transfer.lengthBytes()) - chunks;
    }

    void addChunk(long chunkOffset) {
        transfer.pieces().piece(chunks++, chunkOffset);
    }

    /** Takes away the last chunk that is not the slot's own; returns its offset, or -1. */
    long removeChunk() {
        return chunks > 1 ? transfer.pieces().piece(--chunks) : -1;
    }

    @Override
    public Nexus nexus() {
        return connection.nexus();
    }

    @Override
    public long offset() {
        return command.offset;
    }

    @Override
    public int lengthBytes() {
        return (command.moveBytes + LogicalBlock.BYTES - 1) & -LogicalBlock.BYTES;
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
    public long scratchOffset() {
        return chunk;
    }

    @Override
    public int scratchBytes() {
        return BufferPool.CHUNK_BYTES;
    }
}
