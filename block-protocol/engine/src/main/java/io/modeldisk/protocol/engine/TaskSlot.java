package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A place for one command in flight, with all that it needs: its CDB, its chunk of memory, its transfer. Reused for one
 * command after another. Owned by the thread that runs it; while it is parked, by nobody.
 */
final class TaskSlot implements IoTask {
    /** The most chunks one command takes: the longest transfer is this many times 256 KiB. */
    static final int MAX_CHUNKS = 32;

    /** What a command does with data. */
    enum Kind {
        /** Nothing, or returns parameter data. */
        CONTROL,
        /** Reads the medium. */
        READ,
        /** Writes the medium. */
        WRITE,
        /** Waits for what was written. */
        SYNCHRONIZE,
        /** Compares data with the medium. */
        COMPARE,
        /** Writes the medium and compares. */
        WRITE_AND_COMPARE,
        /** Compares each block of a range with one. */
        COMPARE_SAME,
        /** Writes one block to all of a range. */
        WRITE_SAME;

        /** Whether data comes from the initiator. */
        boolean takesData() {
            return switch (this) {
                case WRITE, COMPARE, WRITE_AND_COMPARE, COMPARE_SAME, WRITE_SAME -> true;
                case CONTROL, READ, SYNCHRONIZE -> false;
            };
        }
    }

    private static final int FREE = 0;
    private static final int RUNNING = 1;
    private static final int PARKED = 2;
    private static final int RESUMED = 3;

    final Cdb cdb = new Cdb();
    final DataTransfer transfer;
    final Pins pins = new Pins();
    Kind kind;
    LogicalUnit unit;
    int lun;
    int moveBytes;
    long residual;
    long expectedBytes;
    /** Whether the initiator has said that it sends data. */
    boolean sendsData;
    long offset;
    long round;
    /** How it ends if nothing goes wrong. */
    int goodStatus;
    /** The link in the line for memory, kept by {@link BufferPool}. */
    TaskSlot nextWaiting;
    volatile boolean aborted;
    /** What was wrong with its data; null as long as nothing was. */
    volatile Sense dataFailure;
    volatile boolean expired;
    /** Another session has aborted it. */
    volatile boolean abortedByOther;
    /** Its status goes out. */
    boolean ending;
    /** Whether its data and status are on their way, its memory still needed, and its pin with it. Guarded by this. */
    private boolean putting;
    private long putNumber;
    /** Why it fails whatever comes; null if nothing is known. */
    Sense refusal;
    /** The parameter data that it returns; null for a command on the medium. */
    byte[] parameterData;
    /** Fetches the data that did not come with the command. */
    RemainingData remainingData;
    /** Since when it waits for data or for its logical unit, as {@link System#nanoTime()}; 0 if it does not wait. */
    volatile long waitingSinceNanos;
    volatile boolean waitsForData;
    /** Whether its data has been asked for. */
    volatile boolean fetching;

    private final TargetConnection connection;
    private final DataMemory memory;
    private final long chunk;
    private final AtomicInteger state = new AtomicInteger(FREE);
    private int chunks = 1;

    TaskSlot(int index, TargetConnection connection, DataMemory memory, long chunk) {
        this.connection = connection;
        this.memory = memory;
        this.chunk = chunk;
        this.transfer = new DataTransfer(index, memory, BufferPool.CHUNK_BYTES, MAX_CHUNKS);
        this.transfer.pieces().piece(0, chunk);
    }

    /** Starts over for a command. */
    void begin(ScsiCommandPdu command) {
        command.copyCdb(cdb.bytes());
        kind = Kind.CONTROL;
        unit = null;
        lun = -1;
        moveBytes = 0;
        residual = 0;
        offset = 0;
        round = IMPLIED_ROUND;
        expectedBytes = command.expectedDataTransferBytes();
        sendsData = command.writes();
        aborted = false;
        dataFailure = null;
        expired = false;
        abortedByOther = false;
        goodStatus = ScsiStatus.GOOD;
        ending = false;
        refusal = null;
        parameterData = null;
        waitingSinceNanos = 0;
        waitsForData = false;
        fetching = false;
        state.set(RUNNING);
    }

    /** Says what the command moves, and what is missing or too much against what the initiator expects. */
    void move(long wantedBytes, long possibleBytes) {
        moveBytes = (int) Math.min(wantedBytes, possibleBytes);
        residual = wantedBytes - expectedBytes;
    }

    /** Its data and status were left under way, behind those of lower numbers. With the lock. */
    void putting(long number) {
        putting = true;
        putNumber = number;
    }

    /** The number of the put that is under way; {@link Long#MAX_VALUE} if none is. */
    synchronized long putNumber() {
        return putting ? putNumber : Long.MAX_VALUE;
    }

    /** Takes over the end of what was left under way: answers so to one caller alone. */
    synchronized boolean takePutting() {
        boolean result = putting;
        putting = false;
        return result;
    }

    /** The command has ended. */
    void end() {
        state.set(FREE);
    }

    /** Whether it is not to go on: it was aborted, or has waited too long. */
    boolean isToEndEarly() {
        return aborted || expired || abortedByOther;
    }

    boolean isActive() {
        return state.get() != FREE;
    }

    /** Gives up the task until it is resumed; answers false if that has happened already: then the caller goes on. */
    boolean park(long nowNanos) {
        if (waitingSinceNanos == 0) {
            waitingSinceNanos = nowNanos;
        }
        if (state.compareAndSet(RUNNING, PARKED)) {
            return true;
        }
        state.set(RUNNING);
        return false;
    }

    /** Takes a parked task over, so that it does not go on; answers false if it is not parked. */
    boolean takeParked() {
        return state.compareAndSet(PARKED, RUNNING);
    }

    @Override
    public void resume() {
        while (true) {
            if (state.compareAndSet(PARKED, RUNNING)) {
                connection.schedule(this);
                return;
            }
            int now = state.get();
            if (now != RUNNING && now != PARKED || now == RUNNING && state.compareAndSet(RUNNING, RESUMED)) {
                return;
            }
        }
    }

    /** Lets go of what is pinned for it. */
    void unpin() {
        pins.release(kind == Kind.READ ? unit : null);
    }

    /** Whether a copy in its scratch memory is pinned. */
    boolean usesScratch() {
        return pins.holds(memory, chunk);
    }

    /** How many chunks the transfer needs beyond those it has. */
    int extraChunksWanted() {
        return transfer.piecesFor(transfer.lengthBytes()) - chunks;
    }

    void addChunk(long chunkOffset) {
        transfer.pieces().piece(chunks++, chunkOffset);
    }

    /** Takes the last chunk but its own away; answers its offset, or -1. */
    long removeChunk() {
        return chunks > 1 ? transfer.pieces().piece(--chunks) : -1;
    }

    void chunksGranted() {
        connection.schedule(this);
    }

    /** From here on it is the responder's, which lets it go on when its turn comes. */
    void leaveToResponder() {
        connection.schedule(this);
    }

    TargetConnection connection() {
        return connection;
    }

    @Override
    public Nexus nexus() {
        return connection.nexus();
    }

    @Override
    public long offset() {
        return offset;
    }

    @Override
    public int lengthBytes() {
        return (moveBytes + LogicalBlock.BYTES - 1) & -LogicalBlock.BYTES;
    }

    @Override
    public long round() {
        return round;
    }

    @Override
    public DataMemory memory() {
        return kind.takesData() ? transfer.memory() : memory;
    }

    @Override
    public int pieceCount() {
        return transfer.piecesFor(moveBytes);
    }

    @Override
    public long pieceOffset(int index) {
        return transfer.place().piece(index);
    }

    @Override
    public int pieceLengthBytes(int index) {
        return Math.min(transfer.place().pieceBytes(), moveBytes - index * transfer.place().pieceBytes());
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
