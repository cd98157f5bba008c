package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The location of one task's data: pieces of the target's buffers, or memory of the initiator that the target has mapped. Piece
 * {@code i} begins at byte {@code i * pieceBytes()} of the data. Each object is reused for later tasks. Only the thread that
 * serves the task may use the object.
 */
public sealed interface DataPlace {
    /** The memory that holds the data. */
    DataMemory memory();

    /** The size of each piece in bytes. */
    int pieceBytes();

    /** The offset of piece {@code index} in {@link #memory()}. */
    long piece(int index);

    /** Pieces of the target's memory. */
    final class Pieces implements DataPlace {
        private final DataMemory memory;
        private final int pieceBytes;
        private final long[] offsets;

        /** Creates a list of up to {@code maxPieces} pieces of {@code memory}. */
        public Pieces(DataMemory memory, int pieceBytes, int maxPieces) {
            this.memory = memory;
            this.pieceBytes = pieceBytes;
            this.offsets = new long[maxPieces];
        }

        /** Sets the offset of piece {@code index}. */
        public void piece(int index, long offset) {
            offsets[index] = offset;
        }

        @Override
        public DataMemory memory() {
            return memory;
        }

        @Override
        public int pieceBytes() {
            return pieceBytes;
        }

        @Override
        public long piece(int index) {
            return offsets[index];
        }
    }

    /** A range of the initiator's memory that the target has mapped. The range is one piece within one slab. */
    final class PeerMemory implements DataPlace {
        private DataMemory memory;
        private long offset;
        private long lengthBytes;

        void set(DataMemory mapped, long start, long bytes) {
            memory = mapped;
            offset = start;
            lengthBytes = bytes;
        }

        @Override
        public DataMemory memory() {
            return memory;
        }

        @Override
        public int pieceBytes() {
            return DataMemory.SLAB_BYTES;
        }

        @Override
        public long piece(int index) {
            return offset;
        }

        /**
         * Returns the offset in {@link #memory()} of the byte at {@code position} in the task's data.
         *
         * @throws IllegalStateException if {@code bytes} bytes at {@code position} are not within the data
         */
        public long address(int position, int bytes) {
            if (position < 0 || bytes > lengthBytes - position) {
                throw new IllegalStateException(
                    bytes + " bytes at offset " + position + " are outside of the task's data of " + lengthBytes
                        + " bytes");
            }
            return offset + position;
        }
    }
}
