package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The data of one task on its way to the target, and where it goes. Its memory lies in pieces of one size: the bytes from
 * {@code i * pieceBytes} on are in piece {@code i}; or this host has it in one piece already, where its initiator left it. Reused
 * for one task after another; owned by the thread that serves the task.
 */
public final class DataTransfer {
    private final int slot;
    private final DataMemory memory;
    private final int pieceBytes;
    private final long[] pieces;

    private int initiatorTaskTag;
    private long lunField;
    private int lengthBytes;
    private int receivedBytes;
    /** The initiator's memory, if this host has it; else null. */
    private DataMemory peerMemory;
    private long peerOffset;
    private long peerBytes;

    /** A transfer of up to {@code maxPieces} pieces. */
    public DataTransfer(int slot, DataMemory memory, int pieceBytes, int maxPieces) {
        this.slot = slot;
        this.memory = memory;
        this.pieceBytes = pieceBytes;
        this.pieces = new long[maxPieces];
    }

    /** Starts over for a task. */
    public void begin(int initiatorTaskTag, long lunField, int lengthBytes) {
        this.initiatorTaskTag = initiatorTaskTag;
        this.lunField = lunField;
        this.lengthBytes = lengthBytes;
        this.receivedBytes = 0;
        this.peerMemory = null;
    }

    /**
     * Says that the task's memory, of the initiator, is mapped here: a write's data is complete and need not move at all, and a
     * read's data can be copied there.
     *
     * @param bytes how much of it there is: at least what the task moves, within one slab
     */
    public void liesAt(DataMemory memory, long offset, long bytes) {
        this.peerMemory = memory;
        this.peerOffset = offset;
        this.peerBytes = bytes;
        this.receivedBytes = lengthBytes;
    }

    /** The initiator's memory, if {@link #liesAt} has told of it; else null. */
    public DataMemory peerMemory() {
        return peerMemory;
    }

    /** Where in {@link #peerMemory()} the {@code bytes} of the task's data from {@code position} on are. */
    public long peerAddress(int position, int bytes) {
        if (peerMemory == null || position < 0 || bytes > peerBytes - position) {
            throw new IllegalStateException("no memory for " + bytes + " bytes at " + position);
        }
        return peerOffset + position;
    }

    /** Says where piece {@code index} is. */
    public void piece(int index, long offset) {
        pieces[index] = offset;
    }

    /** Where in {@link #memory()} piece {@code index} is. */
    public long piece(int index) {
        return peerMemory == null ? pieces[index] : peerOffset;
    }

    /** What {@link #piece(int, long)} has set, wherever the data is now. */
    public long chunk(int index) {
        return pieces[index];
    }

    /** How many pieces {@code bytes} take. */
    public int piecesFor(int bytes) {
        return (bytes + pieceBytes() - 1) / pieceBytes();
    }

    /** The size of each piece. */
    public int pieceBytes() {
        return peerMemory == null ? pieceBytes : DataMemory.SLAB_BYTES;
    }

    /** The memory that holds the pieces. */
    public DataMemory memory() {
        return peerMemory == null ? memory : peerMemory;
    }

    /** Where in {@link #memory()} the data's byte {@code position} goes. */
    public long address(int position) {
        return piece(position / pieceBytes()) + position % pieceBytes();
    }

    /** How many bytes from {@code position} on lie in one piece. */
    public int contiguousBytes(int position) {
        return pieceBytes() - position % pieceBytes();
    }

    /** The number of this transfer on its connection. */
    public int slot() {
        return slot;
    }

    /** The task's tag. */
    public int initiatorTaskTag() {
        return initiatorTaskTag;
    }

    /** The task's LUN field. */
    public long lunField() {
        return lunField;
    }

    /** How much data the initiator sends in all. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** How much has come. */
    public int receivedBytes() {
        return receivedBytes;
    }

    /** Whether all of it has come. */
    public boolean isComplete() {
        return receivedBytes == lengthBytes;
    }

    /** The datamover has put that many more bytes in their place. */
    public void received(int bytes) {
        receivedBytes += bytes;
    }
}
