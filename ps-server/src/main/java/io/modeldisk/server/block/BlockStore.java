package io.modeldisk.server.block;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Semaphore;

/**
 * The weights of a shard, in blocks, so that a slow reader neither delays a writer nor sees a write half done: a reader pins
 * the slot a block is in, and a writer that finds it pinned moves the block to a spare slot first.
 *
 * <p><b>There always is a spare slot.</b> There are B blocks, S permits and B + S slots. Each block has one current slot. A slot
 * that is neither current nor spare is pinned, and each pin has a permit, which is given back only after the slot is. A writer
 * needs a spare because its current slot is pinned: while w writers, each holding its block's lock, look for one, at least w
 * permits are on current slots, at most S − w are on others, so at most S − w slots are neither current nor spare, and at least w
 * are spare.
 *
 * <p>Thread-safe; a lock a block. Pinning, unpinning and visiting allocate nothing.
 */
public final class BlockStore implements AutoCloseable {
    private final BlockLayout layout;
    private final DataMemory memory;
    private final DataMemory stateMemory;
    private final Block[] blocks;
    private final SpareSlots spares;
    private final BlockVersions versions;
    private final Semaphore permits;

    /**
     * Allocates zeroed blocks.
     *
     * @param layout the blocks
     * @param spareBlocks how many pins are handed out without a copy, at least 1; each needs memory for a block
     * @param stateBytesPerWeightByte as {@link io.modeldisk.aggregator.Aggregator#stateBytesPerWeightByte()}
     */
    public BlockStore(BlockLayout layout, int spareBlocks, int stateBytesPerWeightByte) {
        this.layout = layout;
        this.blocks = new Block[layout.blocks()];
        this.spares = new SpareSlots(spareBlocks);
        this.versions = new BlockVersions(blocks.length);
        this.permits = new Semaphore(spareBlocks);
        int blockSize = layout.blockSizeBytes();
        int lastBytes = layout.lengthOf(blocks.length - 1);
        this.memory = DataMemory.allocate((long) blockSize * (blocks.length + spareBlocks));
        this.stateMemory = allocateState(stateBytesPerWeightByte);
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = new Block(i, layout.lengthOf(i), stateOf(i, stateBytesPerWeightByte), spares, versions);
            blocks[i].start(new BlockSlot(memory, layout.offsetOf(i), blockSize, lastBytes));
        }
        for (int i = blocks.length; i < blocks.length + spareBlocks; i++) {
            spares.put(new BlockSlot(memory, layout.offsetOf(i), blockSize, lastBytes));
        }
    }

    private DataMemory allocateState(int stateBytesPerWeightByte) {
        if (stateBytesPerWeightByte == 0) {
            return null;
        }
        try {
            return DataMemory.allocate(stateStride(stateBytesPerWeightByte) * blocks.length);
        } catch (RuntimeException | OutOfMemoryError e) {
            memory.close();
            throw e;
        }
    }

    /** A power of two, so that no block's state straddles two slabs. */
    private long stateStride(int stateBytesPerWeightByte) {
        long bytes = (long) layout.blockSizeBytes() * stateBytesPerWeightByte;
        return Long.highestOneBit(2 * bytes - 1);
    }

    private MemorySegment stateOf(int block, int stateBytesPerWeightByte) {
        return stateMemory == null
            ? MemorySegment.NULL
            : stateMemory.segment(
                block * stateStride(stateBytesPerWeightByte),
                (long) layout.lengthOf(block) * stateBytesPerWeightByte);
    }

    /** How the shard is cut into blocks. */
    public BlockLayout layout() {
        return layout;
    }

    /** A block by its number. */
    public Block block(int index) {
        return blocks[index];
    }

    /** The blocks' versions. */
    public BlockVersions versions() {
        return versions;
    }

    /** The memory that holds the weights, for a datamover to register; at first each block is where its layout says. */
    public DataMemory memory() {
        return memory;
    }

    /** The number of free spare slots: all of them when nothing is pinned. */
    public int spareCount() {
        return spares.count();
    }

    /**
     * Pins a read's data from {@code dataOffset} on, up to the end of its block; without a permit, copies it to the task's
     * scratch memory.
     */
    public void pin(IoTask task, int dataOffset, Pin pin) {
        long offset = task.offset() + dataOffset;
        Block block = blocks[layout.blockOf(offset)];
        int offsetInBlock = layout.offsetInBlock(offset);
        int lengthBytes = Math.min(task.lengthBytes() - dataOffset, block.lengthBytes() - offsetInBlock);
        if (permits.tryAcquire()) {
            BlockSlot slot = block.pinCurrent();
            pin.set(memory, slot.memoryOffset() + offsetInBlock, lengthBytes, slot, block.index());
        } else {
            copyToScratch(task, block, offsetInBlock, lengthBytes, pin);
        }
    }

    private static void copyToScratch(IoTask task, Block block, int offsetInBlock, int lengthBytes, Pin pin) {
        long scratch = task.scratchOffset();
        int room = Math.min(task.scratchBytes(), task.memory().bytesLeftInSlab(scratch));
        int copied = Math.min(lengthBytes, room);
        block.lock();
        try {
            MemorySegment.copy(
                block.readable().weights(),
                offsetInBlock,
                task.memory().slab(scratch),
                DataMemory.offsetInSlab(scratch),
                copied);
        } finally {
            block.unlock();
        }
        pin.set(task.memory(), scratch, copied, null, block.index());
    }

    /** Releases a pin, from any thread. */
    public void unpin(Pin pin) {
        if (pin.holder() instanceof BlockSlot slot) {
            slot.block().unpin(slot);
            // After the slot: the proof above relies on this order.
            permits.release();
        }
    }

    /** Visits a write's data in ascending order, one block locked at a time. */
    public <C> void visit(IoTask task, PieceVisitor<C> visitor, C context) {
        int piece = 0;
        int pieceStart = 0;
        int position = 0;
        while (position < task.lengthBytes()) {
            Block block = blocks[layout.blockOf(task.offset() + position)];
            int blockStart = (int) (layout.offsetOf(block.index()) - task.offset());
            int end = Math.min(task.lengthBytes(), blockStart + block.lengthBytes());
            boolean changed = false;
            block.lock();
            try {
                while (position < end) {
                    while (position == pieceStart + task.pieceLengthBytes(piece)) {
                        pieceStart += task.pieceLengthBytes(piece++);
                    }
                    long data = task.pieceOffset(piece) + position - pieceStart;
                    int left = Math.min(end, pieceStart + task.pieceLengthBytes(piece)) - position;
                    int lengthBytes = Math.min(left, task.memory().bytesLeftInSlab(data));
                    changed |= visitor.piece(
                        task,
                        context,
                        block,
                        position - blockStart,
                        task.memory().slab(data),
                        DataMemory.offsetInSlab(data),
                        lengthBytes);
                    position += lengthBytes;
                }
                if (changed) {
                    visitor.visited(block);
                }
            } finally {
                block.unlock();
            }
        }
    }

    /** Frees the memory. The owner makes sure that it is not in use. */
    @Override
    public void close() {
        memory.close();
        if (stateMemory != null) {
            stateMemory.close();
        }
    }
}
