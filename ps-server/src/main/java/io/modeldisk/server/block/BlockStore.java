package io.modeldisk.server.block;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.fault.shard.ChangeListener;
import io.modeldisk.fault.shard.ShardBlocks;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The weights of a shard, in blocks. A slow reader does not delay a writer, and never sees an incomplete write. A reader pins the
 * memory slot of a block. If the slot is pinned, a writer first copies the block to a spare slot.
 *
 * <p><b>A spare slot is always free.</b> There are B blocks, S permits and B + S slots. Each block has one current slot. A slot
 * that is neither current nor spare is pinned. Each pin has a permit, which is released only after the pin. A writer needs a
 * spare slot only if the current slot of its block is pinned. Suppose that w writers need a spare slot. Each of these writers
 * holds the lock of its block. Then at least w permits belong to pins of current slots, and at most S − w permits belong to pins
 * of other slots, so at most S − w slots are neither current nor spare, and at least w slots are spare.
 *
 * <p>Thread-safe: each block has its own lock. Pins and visits allocate no memory.
 */
public final class BlockStore implements ShardBlocks, AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(BlockStore.class);

    private static final long STATE_ALIGNMENT = 64;

    private final BlockLayout layout;
    private final DataMemory memory;
    private final DataMemory stateMemory;
    private final Block[] blocks;
    private final SpareSlots spares;
    private final BlockVersions versions;
    private final VersionWaits versionWaits;
    private final Semaphore permits;
    private final ChangeWatch watch = new ChangeWatch();
    private final HalfTransfers halves;
    /** Null if the shard uses no device. */
    private DeviceBlocks device;
    private DeviceTasks deviceTasks;
    private DevicePushes devicePushes;

    /**
     * Allocates the blocks and fills them with zeros.
     *
     * @param spareBlocks the number of spare slots, and the maximum number of pins at the same time, at least 1
     * @param stateBytesPerLogicalBlock see {@link Aggregator#stateBytesPerLogicalBlock}
     */
    public BlockStore(BlockLayout layout, int spareBlocks, int stateBytesPerLogicalBlock) {
        this.layout = layout;
        this.blocks = new Block[layout.blocks()];
        this.spares = new SpareSlots(spareBlocks);
        this.versions = new BlockVersions(blocks.length);
        this.versionWaits = new VersionWaits(versions);
        this.permits = new Semaphore(spareBlocks);
        int blockSize = layout.blockSizeBytes();
        int lastBytes = layout.lengthOf(blocks.length - 1);
        this.memory = DataMemory.allocate((long) blockSize * (blocks.length + spareBlocks));
        this.stateMemory = allocateState(stateBytesPerLogicalBlock);
        this.halves = allocateHalves();
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = new Block(i, layout.lengthOf(i), stateOf(i, stateBytesPerLogicalBlock), spares, versions,
                watch);
            blocks[i].start(new BlockSlot(memory, layout.offsetOf(i), blockSize, lastBytes));
        }
        for (int i = blocks.length; i < blocks.length + spareBlocks; i++) {
            spares.put(new BlockSlot(memory, layout.offsetOf(i), blockSize, lastBytes));
        }
    }

    private DataMemory allocateState(int stateBytesPerLogicalBlock) {
        if (stateBytesPerLogicalBlock == 0) {
            return null;
        }
        try {
            return DataMemory.allocate(stateOffset(blocks.length - 1, stateBytesPerLogicalBlock)
                + stateStride(layout.blockSizeBytes(), stateBytesPerLogicalBlock));
        } catch (RuntimeException | OutOfMemoryError e) {
            memory.close();
            throw e;
        }
    }

    private HalfTransfers allocateHalves() {
        try {
            return new HalfTransfers(this);
        } catch (RuntimeException | OutOfMemoryError e) {
            memory.close();
            if (stateMemory != null) {
                stateMemory.close();
            }
            throw e;
        }
    }

    /** The number of 16-bit writes that can be converted at the same time: one for each processor, from 2 to 16. */
    public static int scratchBlocks() {
        return Math.clamp(Runtime.getRuntime().availableProcessors(), 2, 16);
    }

    /** Returns the size of the aggregator state of a block in bytes, including the padding for alignment. */
    public static long stateStride(int blockSizeBytes, int stateBytesPerLogicalBlock) {
        long bytes = LogicalBlock.in(blockSizeBytes) * stateBytesPerLogicalBlock;
        return Math.ceilDiv(bytes, STATE_ALIGNMENT) * STATE_ALIGNMENT;
    }

    /** The offset of the aggregator state of a block. The state of a block never extends over two slabs. */
    private long stateOffset(int block, int stateBytesPerLogicalBlock) {
        long stride = stateStride(layout.blockSizeBytes(), stateBytesPerLogicalBlock);
        long perSlab = DataMemory.SLAB_BYTES / stride;
        return block / perSlab * DataMemory.SLAB_BYTES + block % perSlab * stride;
    }

    private MemorySegment stateOf(int block, int stateBytesPerLogicalBlock) {
        return stateMemory == null
            ? MemorySegment.NULL
            : stateMemory.segment(
                stateOffset(block, stateBytesPerLogicalBlock),
                LogicalBlock.in(layout.lengthOf(block)) * stateBytesPerLogicalBlock);
    }

    /**
     * Keeps a copy of the blocks on a device from now on, and applies gradients there. Allowed only before the first update.
     *
     * @param withSums whether the device also keeps the sums of gradients
     * @param hostPushes the reason why gradients must arrive in host memory; null if they may arrive in device memory
     * @param name the name of the shard, for messages
     * @param lost the action that a thread of the device calls once if the device fails
     * @throws IllegalArgumentException if the device cannot be used, or has too little memory
     * @throws IOException if the device has failed
     */
    public void useDevice(
        DeviceTarget target, Aggregator aggregator, boolean withSums, String hostPushes, NanoClock clock, String name,
        Consumer<DeviceException> lost) throws IOException {
        LongFunction<DeviceShape> shape = pushBytes -> new DeviceShape(layout.sizeBytes(), layout.blockSizeBytes(),
            aggregator, withSums, pushBytes, memory.slabs(), i -> blocks[i].hostState(), clock, name);
        try {
            devicePushes = DevicePushes.open(target, shape, hostPushes);
            device = devicePushes.device();
        } catch (DeviceException e) {
            throw new IOException(e.getMessage(), e);
        }
        deviceTasks = new DeviceTasks(device, lost);
        for (Block block : blocks) {
            block.useDevice(new DeviceCopy(device, block.index(), target.mirrorsAtOnce()));
        }
    }

    /** The place on the device where gradients arrive; null if the shard uses no device. */
    public DevicePushes devicePushes() {
        return devicePushes;
    }

    /** The device that holds a copy of the blocks; null if the shard uses no device. */
    public DeviceBlocks device() {
        return device;
    }

    @Override
    public void awaitDevice() {
        if (device != null) {
            device.awaitDone(device.newest());
        }
    }

    /** The tasks that wait until the device has applied gradients; null if the shard uses no device. */
    public DeviceTasks deviceTasks() {
        return deviceTasks;
    }

    @Override
    public BlockLayout layout() {
        return layout;
    }

    @Override
    public Block block(int index) {
        return blocks[index];
    }

    /** Locks all blocks. {@link #unlockAll} unlocks them. */
    public void lockAll() {
        for (Block block : blocks) {
            block.lock();
        }
    }

    /** Unlocks all blocks after {@link #lockAll}. */
    public void unlockAll() {
        for (Block block : blocks) {
            block.unlock();
        }
    }

    @Override
    public void watch(ChangeListener listener) {
        watch.set(listener);
    }

    /** Sets a second listener that is called before each change of a block. This listener stays until the store is closed. */
    public void keep(ChangeListener listener) {
        watch.keep(listener);
    }

    @Override
    public long updates() {
        return versions.total();
    }

    /** The versions of all blocks. */
    public BlockVersions versions() {
        return versions;
    }

    /** The tasks that wait until the lowest version of all blocks changes. */
    public VersionWaits versionWaits() {
        return versionWaits;
    }

    /**
     * The memory with the weights, which a datamover registers. Until the first push, each block is at its
     * {@linkplain BlockLayout#offsetOf offset}.
     */
    public DataMemory memory() {
        return memory;
    }

    /** The size of the aggregator states of all blocks. */
    public long stateBytes() {
        long bytes = 0;
        for (Block block : blocks) {
            bytes += block.stateBytes();
        }
        return bytes;
    }

    /** The number of free spare slots. If no slot is pinned, all spare slots are free. */
    public int spareCount() {
        return spares.count();
    }

    /**
     * Sets {@code pin} to the data of a read from {@code dataOffset} on. For float32, the data ends at the end of the block at
     * the latest; the method pins the block's slot, or if all permits for pins are in use, copies the data to the scratch memory
     * of the task. For a 16-bit type, the method converts the weights into the scratch memory. A copy or a conversion ends when
     * the scratch memory is full.
     */
    public void pin(IoTask task, int dataOffset, Pin pin) {
        if (task.valueType() != ValueType.FLOAT32) {
            halves.read(task, dataOffset, pin);
            return;
        }
        long offset = task.offset() + dataOffset;
        Block block = blocks[layout.blockOf(offset)];
        int offsetInBlock = layout.offsetInBlock(offset);
        int lengthBytes = Math.min(task.lengthBytes() - dataOffset, block.lengthBytes() - offsetInBlock);
        BlockSlot slot = tryPin(block);
        if (slot != null) {
            pin.set(memory, slot.memoryOffset() + offsetInBlock, lengthBytes, slot);
        } else {
            copyToScratch(task, block, offsetInBlock, lengthBytes, pin);
        }
    }

    private static void copyToScratch(IoTask task, Block block, int offsetInBlock, int lengthBytes, Pin pin) {
        long scratch = task.scratchOffset();
        int room = Math.min(task.scratchBytes(), task.memory().bytesLeftInSlab(scratch));
        int copied = Math.min(lengthBytes, room);
        try (ScopedLock.Held _ = block.hold()) {
            MemorySegment.copy(
                block.readable().weights(), offsetInBlock, task.memory().slab(scratch),
                DataMemory.offsetInSlab(scratch), copied);
        }
        pin.set(task.memory(), scratch, copied, null);
    }

    /** Pins the current slot of a block. Returns null if no permit is free. */
    BlockSlot tryPin(Block block) {
        if (!permits.tryAcquire()) {
            return null;
        }
        BlockSlot slot = null;
        try {
            slot = block.pinCurrent();
        } finally {
            if (slot == null) {
                permits.release();
            }
        }
        return slot;
    }

    void unpin(BlockSlot slot) {
        slot.block().unpin(slot);
        // The permit must be released after the slot: see the comment of this class.
        permits.release();
    }

    /** Releases a pin. May be called by any thread. */
    public void unpin(Pin pin) {
        if (pin.holder() instanceof BlockSlot slot) {
            unpin(slot);
        }
    }

    /**
     * Returns the type in which {@link #visit} passes the gradient of a push. Only a device accepts gradients of 16-bit types,
     * and only if the push is not recorded, because records contain float32 values.
     */
    public GradientType typeOf(IoTask push, boolean isRecorded) {
        if (device == null || isRecorded) {
            return GradientType.FLOAT32;
        }
        return switch (push.valueType()) {
            case FLOAT32 -> GradientType.FLOAT32;
            case BFLOAT16 -> GradientType.BFLOAT16;
            case FLOAT16 -> GradientType.FLOAT16;
        };
    }

    /**
     * Passes the data of a write to a visitor, in ascending order of offsets. Locks one block at a time. If {@code type} is
     * float32, 16-bit data is first converted, and reaches the visitor in one part for each block.
     */
    public <C> void visit(IoTask task, PieceVisitor<C> visitor, C context, GradientType type) {
        if (task.valueType() != ValueType.FLOAT32 && type == GradientType.FLOAT32) {
            halves.visit(task, visitor, context);
            return;
        }
        int widening = type.widening();
        int piece = 0;
        int pieceStart = 0;
        int position = 0;
        // The range of a 16-bit type may end beyond the shard.
        int endOfTask = (int) Math.min(task.lengthBytes(), layout.sizeBytes() - task.offset());
        while (position < endOfTask) {
            Block block = blocks[layout.blockOf(task.offset() + position)];
            int blockStart = (int) (layout.offsetOf(block.index()) - task.offset());
            int end = Math.min(endOfTask, blockStart + block.lengthBytes());
            boolean changed = false;
            try (ScopedLock.Held _ = block.hold()) {
                while (position < end) {
                    while (position == pieceStart + task.pieceLengthBytes(piece) * widening) {
                        pieceStart += task.pieceLengthBytes(piece++) * widening;
                    }
                    long data = task.pieceOffset(piece) + (position - pieceStart) / widening;
                    int left = Math.min(end, pieceStart + task.pieceLengthBytes(piece) * widening) - position;
                    int lengthBytes = Math.min(left / widening, task.memory().bytesLeftInSlab(data)) * widening;
                    changed |= visitor.piece(
                        task, context, block, position - blockStart, task.memory().slab(data),
                        DataMemory.offsetInSlab(data), lengthBytes);
                    position += lengthBytes;
                }
                if (changed) {
                    visitor.visited(block);
                }
            }
        }
    }

    /** Frees the memory. May be called only when the memory is not in use. */
    @Override
    public void close() {
        if (device != null) {
            try {
                device.close();
            } catch (DeviceException e) {
                // The memory stays allocated, because the device might still use it.
                LOG.error("{}", e.getMessage());
                return;
            }
        }
        halves.close();
        memory.close();
        if (stateMemory != null) {
            stateMemory.close();
        }
    }
}
