package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The location of one task's data: pieces of the target's buffers, or one piece of the initiator's memory that the target has
 * mapped. Piece {@code i} begins at byte {@code i * pieceBytes()} of the data. Each object is reused for later tasks. Only the
 * thread that serves the task may use the object.
 */
public final class DataPlace {
    private final int pieceBytes;
    private final long[] offsets;
    private DataMemory memory;

    /** Creates a list of up to {@code maxPieces} pieces of {@code memory}. */
    public DataPlace(DataMemory memory, int pieceBytes, int maxPieces) {
        this.memory = memory;
        this.pieceBytes = pieceBytes;
        this.offsets = new long[maxPieces];
    }

    /** Sets a range of mapped memory as the location of the data. The range begins at {@code offset}. */
    void set(DataMemory mapped, long offset) {
        memory = mapped;
        offsets[0] = offset;
    }

    /** Sets the offset of piece {@code index}. */
    public void piece(int index, long offset) {
        offsets[index] = offset;
    }

    /** The memory that holds the data. */
    public DataMemory memory() {
        return memory;
    }

    /** The size of each piece in bytes. */
    public int pieceBytes() {
        return pieceBytes;
    }

    /** The offset of piece {@code index} in {@link #memory()}. */
    public long piece(int index) {
        return offsets[index];
    }
}
