package io.modeldisk.server.block;

import io.modeldisk.aggregator.HalfKernels;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Semaphore;

/**
 * Converts the data of 16-bit reads and writes. The blocks hold float32 values: {@link HalfKernels} rounds the data of a read,
 * and converts the data of a write exactly. Beyond the end of the shard, a read returns zeros, and a write has no effect.
 *
 * <p>A write needs a scratch block for its float32 values, and the locks of its blocks. No deadlock can arise. In asp and ssp, a
 * thread takes the scratch block before a lock. In bsp, a thread locks all its blocks before it takes a scratch block, and a
 * thread with a scratch block waits for no lock.
 *
 * <p>Thread-safe. Allocates nothing after construction.
 */
final class HalfTransfers implements AutoCloseable {
    private final BlockStore store;
    private final BlockLayout layout;
    private final DataMemory memory;
    private final Semaphore permits;
    private final Queue<MemorySegment> scratches;

    /** Allocates {@link BlockStore#scratchBlocks} scratch blocks. A write waits while all of them are in use. */
    HalfTransfers(BlockStore store) {
        this.store = store;
        this.layout = store.layout();
        int count = BlockStore.scratchBlocks();
        this.memory = DataMemory.allocate((long) count * layout.blockSizeBytes());
        this.permits = new Semaphore(count);
        this.scratches = new ArrayBlockingQueue<>(count);
        for (int i = 0; i < count; i++) {
            scratches.add(memory.segment((long) i * layout.blockSizeBytes(), layout.blockSizeBytes()));
        }
    }

    /** Sets {@code pin} to the weights from {@code dataOffset}, converted into the scratch memory of the task. */
    void read(IoTask task, int dataOffset, Pin pin) {
        ValueType type = task.valueType();
        long scratch = task.scratchOffset();
        int bytes = Math.min(task.dataBytes() - dataOffset,
            Math.min(task.scratchBytes(), task.memory().bytesLeftInSlab(scratch)));
        MemorySegment to = task.memory().slab(scratch);
        long start = DataMemory.offsetInSlab(scratch);
        int done = 0;
        while (done < bytes) {
            long offset = task.offset() + (long) (dataOffset + done) * type.widening();
            if (offset >= layout.sizeBytes()) {
                to.asSlice(start + done, bytes - done).fill((byte) 0);
                break;
            }
            Block block = store.block(layout.blockOf(offset));
            int offsetInBlock = layout.offsetInBlock(offset);
            int part = Math.min(bytes - done, (block.lengthBytes() - offsetInBlock) / type.widening());
            round(type, block, offsetInBlock, to, start + done, part);
            done += part;
        }
        pin.set(task.memory(), scratch, bytes, null);
    }

    /** Converts weights of a block. Other threads can pull the block at the same time. */
    private void round(ValueType type, Block block, int offset, MemorySegment to, long toOffset, int bytes) {
        BlockSlot slot = store.tryPin(block);
        if (slot != null) {
            try {
                narrow(type, to, toOffset, slot.weights(), offset, bytes);
            } finally {
                store.unpin(slot);
            }
            return;
        }
        try (ScopedLock.Held _ = block.hold()) {
            narrow(type, to, toOffset, block.readable().weights(), offset, bytes);
        }
    }

    private static void narrow(ValueType type, MemorySegment to, long toOffset, MemorySegment from, long offset,
        int bytes) {
        int count = bytes / type.bytes();
        switch (type) {
            case BFLOAT16 -> HalfKernels.float32ToBfloat16(to, toOffset, from, offset, count);
            case FLOAT16 -> HalfKernels.float32ToFloat16(to, toOffset, from, offset, count);
            case FLOAT32 -> throw new IllegalArgumentException("data of type f32 needs no conversion");
        }
    }

    /** Passes the data of a write to a visitor, one part for each block. Locks one block at a time. */
    <C> void visit(IoTask task, PieceVisitor<C> visitor, C context) {
        permits.acquireUninterruptibly();
        MemorySegment scratch = scratches.remove();
        try {
            visit(task, visitor, context, scratch);
        } finally {
            scratches.add(scratch);
            permits.release();
        }
    }

    private <C> void visit(IoTask task, PieceVisitor<C> visitor, C context, MemorySegment scratch) {
        ValueType type = task.valueType();
        long end = Math.min(task.offset() + task.lengthBytes(), layout.sizeBytes());
        int piece = 0;
        int pieceStart = 0;
        int position = 0;
        long offset = task.offset();
        while (offset < end) {
            Block block = store.block(layout.blockOf(offset));
            int offsetInBlock = layout.offsetInBlock(offset);
            int lengthBytes = (int) Math.min(end - offset, block.lengthBytes() - offsetInBlock);
            int endOfBlock = position + lengthBytes / type.widening();
            int converted = 0;
            while (position < endOfBlock) {
                while (position == pieceStart + task.pieceLengthBytes(piece)) {
                    pieceStart += task.pieceLengthBytes(piece++);
                }
                long data = task.pieceOffset(piece) + position - pieceStart;
                int left = Math.min(endOfBlock, pieceStart + task.pieceLengthBytes(piece)) - position;
                int part = Math.min(left, task.memory().bytesLeftInSlab(data));
                widen(type, scratch, converted, task.memory().slab(data), DataMemory.offsetInSlab(data), part);
                converted += part * type.widening();
                position += part;
            }
            try (ScopedLock.Held _ = block.hold()) {
                if (visitor.piece(task, context, block, offsetInBlock, scratch, 0, lengthBytes)) {
                    visitor.visited(block);
                }
            }
            offset += lengthBytes;
        }
    }

    private static void widen(ValueType type, MemorySegment to, long toOffset, MemorySegment from, long offset,
        int bytes) {
        int count = bytes / type.bytes();
        switch (type) {
            case BFLOAT16 -> HalfKernels.bfloat16ToFloat32(to, toOffset, from, offset, count);
            case FLOAT16 -> HalfKernels.float16ToFloat32(to, toOffset, from, offset, count);
            case FLOAT32 -> throw new IllegalArgumentException("data of type f32 needs no conversion");
        }
    }

    /** Frees the scratch memory. May be called only when no write is in progress. */
    @Override
    public void close() {
        memory.close();
    }
}
