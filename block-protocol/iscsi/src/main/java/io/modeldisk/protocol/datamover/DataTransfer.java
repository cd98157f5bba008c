package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The state of one task's data transfer, and the location of the data. Each object is reused for later tasks. Only the thread
 * that serves the task may use the object.
 */
public final class DataTransfer {
    private final int slot;
    private final DataPlace pieces;
    /** A range of the initiator's memory that the target has mapped. The range lies within one slab. */
    private final DataPlace mapped = new DataPlace(null, DataMemory.SLAB_BYTES, 1);

    private DataPlace place;
    private int initiatorTaskTag;
    private long lunField;
    private int lengthBytes;
    private int receivedBytes;
    private long mappedBytes;

    /** Creates a transfer whose data occupies up to {@code maxPieces} pieces of {@code memory}. */
    public DataTransfer(int slot, DataMemory memory, int pieceBytes, int maxPieces) {
        this.slot = slot;
        this.pieces = new DataPlace(memory, pieceBytes, maxPieces);
        this.place = pieces;
    }

    /** Resets the transfer for a new task. The task's data is stored in {@link #pieces()}. */
    public void begin(int initiatorTaskTag, long lunField, int lengthBytes) {
        this.initiatorTaskTag = initiatorTaskTag;
        this.lunField = lunField;
        this.lengthBytes = lengthBytes;
        this.receivedBytes = 0;
        this.place = pieces;
    }

    /**
     * Sets mapped memory of the initiator as the location of the task's data. The data of a write is already in this memory and
     * is not copied. The data of a read is copied to this memory.
     *
     * @param bytes the length of the memory range. The range lies within one slab and is at least as long as the task's data
     */
    public void liesAt(DataMemory memory, long offset, long bytes) {
        mapped.set(memory, offset);
        mappedBytes = bytes;
        place = mapped;
        receivedBytes = lengthBytes;
    }

    /** Sets other pieces of the target's memory as the location of the task's data. Must be called before data arrives. */
    public void liesIn(DataPlace other) {
        place = other;
    }

    /** The location of this task's data. */
    public DataPlace place() {
        return place;
    }

    /** The pieces of the target's memory that belong to this transfer, even if the current task does not use these pieces. */
    public DataPlace pieces() {
        return pieces;
    }

    /** Returns the number of pieces that {@code bytes} bytes occupy. */
    public int piecesFor(int bytes) {
        int pieceBytes = place.pieceBytes();
        return (bytes + pieceBytes - 1) / pieceBytes;
    }

    /** The memory that holds the data. */
    public DataMemory memory() {
        return place.memory();
    }

    /** Returns the offset in {@link #memory()} of the byte at {@code position} in the data. */
    public long address(int position) {
        int pieceBytes = place.pieceBytes();
        return place.piece(position / pieceBytes) + position % pieceBytes;
    }

    /**
     * Returns the offset in {@link #memory()} of the byte at {@code position} in the data. The data must be in mapped memory.
     *
     * @throws IllegalStateException if the data is not in mapped memory, or {@code bytes} bytes at {@code position} are not
     *     within the data
     */
    public long mappedAddress(int position, int bytes) {
        if (place != mapped) {
            throw new IllegalStateException(
                "the target cannot send the data of a task, because the command refers to no memory of the initiator");
        }
        if (position < 0 || bytes > mappedBytes - position) {
            throw new IllegalStateException(bytes + " bytes at offset " + position
                + " are outside of the task's data of " + mappedBytes + " bytes");
        }
        return mapped.piece(0) + position;
    }

    /** Returns the number of bytes from {@code position} to the end of the piece that holds this position. */
    public int contiguousBytes(int position) {
        int pieceBytes = place.pieceBytes();
        return pieceBytes - position % pieceBytes;
    }

    /** The number that identifies this transfer on its connection. */
    public int slot() {
        return slot;
    }

    /** The initiator task tag. */
    public int initiatorTaskTag() {
        return initiatorTaskTag;
    }

    /** The LUN field of the task's command. */
    public long lunField() {
        return lunField;
    }

    /** The number of bytes that the initiator sends for the task. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** The number of bytes that the target has received. */
    public int receivedBytes() {
        return receivedBytes;
    }

    /** True if the target has received all data of the task. */
    public boolean isComplete() {
        return receivedBytes == lengthBytes;
    }

    /** Records that the datamover has stored {@code bytes} more bytes. */
    public void received(int bytes) {
        receivedBytes += bytes;
    }
}
