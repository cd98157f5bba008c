package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * Where the data of one task lies: in pieces of the target's buffers, or in the initiator's own memory. The bytes from
 * {@code i * pieceBytes()} on are in piece {@code i}. Reused for one task after another; for the thread that serves the task.
 */
public sealed interface DataPlace {
    /** The memory that holds the data. */
    DataMemory memory();

    /** The size of each piece. */
    int pieceBytes();

    /** The offset of piece {@code index} in {@link #memory()}. */
    long piece(int index);

    /** Pieces of the target's memory. */
    final class Pieces implements DataPlace {
        private final DataMemory memory;
        private final int pieceBytes;
        private final long[] offsets;

        /** Room for {@code maxPieces} pieces. */
        Pieces(DataMemory memory, int pieceBytes, int maxPieces) {
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

    /** A range of the initiator's memory that this process has mapped: one piece, within one slab. */
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
         * The offset in {@link #memory()} of the task's bytes from {@code position} on.
         *
         * @throws IllegalStateException if the range does not hold {@code bytes} there
         */
        public long address(int position, int bytes) {
            if (position < 0 || bytes > lengthBytes - position) {
                throw new IllegalStateException(
                    bytes + " bytes at " + position + " are outside of the task's " + lengthBytes + " bytes");
            }
            return offset + position;
        }
    }
}
