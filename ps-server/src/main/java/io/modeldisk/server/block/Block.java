package io.modeldisk.server.block;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.platform.threads.ScopedLock;
import java.lang.foreign.MemorySegment;

/**
 * A block of weights, with its lock, its current memory slot and its version. The caller of a method must hold the lock, except
 * for {@link #hold}, {@link #version} and methods that return constants.
 *
 * <p>If the shard uses a device, the device holds a copy of the block. {@link DeviceCopy} records which of the two is newer.
 */
public final class Block implements ShardBlock {
    private final ScopedLock lock = new ScopedLock();
    private final int index;
    private final int lengthBytes;
    private final MemorySegment state;
    private final SpareSlots spares;
    private final BlockVersions versions;
    private final ChangeWatch watch;
    /** Null if the shard uses no device. */
    private DeviceCopy onDevice;
    private BlockSlot current;
    private long round;

    Block(int index, int lengthBytes, MemorySegment state, SpareSlots spares, BlockVersions versions,
        ChangeWatch watch) {
        this.index = index;
        this.lengthBytes = lengthBytes;
        this.state = state;
        this.spares = spares;
        this.versions = versions;
        this.watch = watch;
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public int lengthBytes() {
        return lengthBytes;
    }

    @Override
    public ScopedLock.Held hold() {
        return lock.hold();
    }

    /** Locks the block for a caller that locks several blocks. See {@link #hold}. */
    public void lock() {
        lock.lock();
    }

    /** Unlocks a block that {@link #lock} has locked. */
    public void unlock() {
        lock.unlock();
    }

    @Override
    public BlockMemory readable() {
        if (onDevice != null) {
            startMirror();
            onDevice.awaitMirror();
        }
        return current;
    }

    /**
     * Applies {@code scale} times a gradient to the weights, on the device if the shard uses one. Before the change, calls the
     * listener of {@link BlockStore#watch}.
     *
     * @param ofRound the round to which the gradient belongs, from 1
     * @param offset the offset of the range in the block, a multiple of 4096
     * @param type the type of the gradient; always float32 if the shard uses no device
     * @param applyBytes the length of the range in the block
     */
    public void apply(
        Aggregator aggregator, long ofRound, long offset, MemorySegment gradient, long gradientOffset,
        GradientType type, long applyBytes, float scale) {
        round = ofRound;
        if (onDevice == null) {
            aggregator.aggregate(writable(), offset, gradient, gradientOffset, applyBytes, scale);
        } else {
            watch.beforeChange(this);
            onDevice.fold(current.weights(), round, offset, gradient, gradientOffset, type, (int) applyBytes,
                scale);
        }
    }

    /** Applies {@code scale} times the sum of gradients on the device to the weights. See {@link #apply}. */
    public void applySum(long ofRound, long offset, int applyBytes, float scale) {
        round = ofRound;
        watch.beforeChange(this);
        onDevice.foldSum(current.weights(), round, offset, applyBytes, scale);
    }

    /**
     * Returns the weights for writing, valid until the lock is released. First calls the listener of {@link BlockStore#watch}.
     * Then, if readers have pinned the current slot, copies the weights to a spare slot, so the readers keep their data.
     */
    @Override
    public BlockMemory writable() {
        watch.beforeChange(this);
        if (onDevice != null) {
            startMirror();
            onDevice.prepareChangeOnHost();
        }
        if (current.isPinned()) {
            BlockSlot old = current;
            takeSpare();
            MemorySegment.copy(old.weights(), 0, current.weights(), 0, lengthBytes);
        }
        return current;
    }

    private void takeSpare() {
        BlockSlot spare = spares.take();
        spare.hold(this);
        // Only readers still use the old slot. The last reader returns this slot to the spare slots.
        current = spare;
    }

    /** If the device has newer weights than the host, makes the device copy them to a slot that no reader has pinned. */
    private void startMirror() {
        if (onDevice.hasNewerWeights()) {
            if (current.isPinned()) {
                takeSpare();
            }
            onDevice.startMirror(current.memoryOffset());
        }
    }

    /** The round of the last update of the block. */
    long round() {
        return round;
    }

    @Override
    public long version() {
        return versions.of(index);
    }

    /** The number of updates since the shard was started. */
    public long updates() {
        return versions.increments(index);
    }

    @Override
    public void restoreVersion(long version) {
        versions.restore(index, version);
    }

    /** Counts an update of the block. */
    public void updated() {
        versions.increment(index);
        if (onDevice != null && onDevice.isMirroredAtOnce()) {
            startMirror();
        }
    }

    void useDevice(DeviceCopy copy) {
        onDevice = copy;
    }

    void start(BlockSlot slot) {
        slot.hold(this);
        current = slot;
    }

    @Override
    public MemorySegment state() {
        if (onDevice != null) {
            onDevice.loadState();
        }
        return state;
    }

    /** The aggregator state in host memory, which can be older than the state on the device. */
    MemorySegment hostState() {
        return state;
    }

    @Override
    public long stateBytes() {
        return state.byteSize();
    }

    BlockSlot pinCurrent() {
        BlockSlot slot;
        long mirrored = 0;
        try (ScopedLock.Held _ = lock.hold()) {
            if (onDevice != null) {
                startMirror();
                mirrored = onDevice.mirrorTicket();
            }
            slot = current;
            slot.pin();
        }
        if (onDevice != null) {
            awaitMirror(slot, mirrored);
        }
        return slot;
    }

    /** Waits until the device has copied the weights to a slot. The slot is pinned, so later weights go to another slot. */
    private void awaitMirror(BlockSlot slot, long mirrored) {
        boolean done = false;
        try {
            onDevice.awaitDone(mirrored);
            done = true;
        } finally {
            if (!done) {
                unpin(slot);
            }
        }
    }

    void unpin(BlockSlot slot) {
        try (ScopedLock.Held _ = lock.hold()) {
            slot.unpin();
            if (!slot.isPinned() && slot != current) {
                spares.put(slot);
            }
        }
    }
}
