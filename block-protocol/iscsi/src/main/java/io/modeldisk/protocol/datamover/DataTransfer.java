package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The data of one task on its way to the target, and the place for it. Reused for one task after another; for the thread that
 * serves the task.
 */
public final class DataTransfer {
    private final int slot;
    private final DataPlace.Pieces pieces;
    private final DataPlace.PeerMemory peerMemory = new DataPlace.PeerMemory();

    private DataPlace place;
    private int initiatorTaskTag;
    private long lunField;
    private int lengthBytes;
    private int receivedBytes;

    /** A transfer of up to {@code maxPieces} pieces of {@code memory}. */
    public DataTransfer(int slot, DataMemory memory, int pieceBytes, int maxPieces) {
        this.slot = slot;
        this.pieces = new DataPlace.Pieces(memory, pieceBytes, maxPieces);
        this.place = pieces;
    }

    /** Starts over for a task; its data goes to {@link #pieces()}. */
    public void begin(int initiatorTaskTag, long lunField, int lengthBytes) {
        this.initiatorTaskTag = initiatorTaskTag;
        this.lunField = lunField;
        this.lengthBytes = lengthBytes;
        this.receivedBytes = 0;
        this.place = pieces;
    }

    /**
     * The task's memory, the initiator's, is mapped here: a write's data is complete and need not move, and a read's data is
     * copied there.
     *
     * @param bytes the length of the range: at least what the task moves, within one slab
     */
    public void liesAt(DataMemory memory, long offset, long bytes) {
        peerMemory.set(memory, offset, bytes);
        place = peerMemory;
        receivedBytes = lengthBytes;
    }

    /** The place of this task's data. */
    public DataPlace place() {
        return place;
    }

    /** The pieces of the target's memory that belong to this transfer, used or not. */
    public DataPlace.Pieces pieces() {
        return pieces;
    }

    /** The number of pieces that {@code bytes} take. */
    public int piecesFor(int bytes) {
        int pieceBytes = place.pieceBytes();
        return (bytes + pieceBytes - 1) / pieceBytes;
    }

    /** The memory that holds the data. */
    public DataMemory memory() {
        return place.memory();
    }

    /** The offset in {@link #memory()} of the data's byte {@code position}. */
    public long address(int position) {
        int pieceBytes = place.pieceBytes();
        return place.piece(position / pieceBytes) + position % pieceBytes;
    }

    /** The number of bytes from {@code position} to the end of its piece. */
    public int contiguousBytes(int position) {
        int pieceBytes = place.pieceBytes();
        return pieceBytes - position % pieceBytes;
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

    /** The length of all data that the initiator sends. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** The length of the data that has come. */
    public int receivedBytes() {
        return receivedBytes;
    }

    /** Whether all data has come. */
    public boolean isComplete() {
        return receivedBytes == lengthBytes;
    }

    /** The datamover has put {@code bytes} more in their place. */
    public void received(int bytes) {
        receivedBytes += bytes;
    }
}
