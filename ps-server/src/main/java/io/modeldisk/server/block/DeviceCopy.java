package io.modeldisk.server.block;

import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.GradientType;
import java.lang.foreign.MemorySegment;

/**
 * The copy of a block on a device. Records whether the copy or the block on the host is newer. Gradients change the copy. Every
 * other change, such as a write to LUN 1 or the loading of a checkpoint, changes the block on the host. The older side is brought
 * up to date when it is needed. At first, the copy on the device is the older side. Guarded by the lock of the block.
 */
final class DeviceCopy {
    private final DeviceBlocks device;
    private final int index;
    private final boolean mirrorsAtOnce;
    private boolean needsStore = true;
    private boolean hasNewerWeights;
    private boolean hasNewerState;
    private long mirrorTicket;

    /** @param mirrorsAtOnce whether the device copies the weights to the host after each update, not only when they are read */
    DeviceCopy(DeviceBlocks device, int index, boolean mirrorsAtOnce) {
        this.device = device;
        this.index = index;
        this.mirrorsAtOnce = mirrorsAtOnce;
    }

    /** Applies a gradient to the copy. {@code weights} are the weights of the block on the host. */
    void fold(
        MemorySegment weights, long round, long offset, MemorySegment gradient, long gradientOffset, GradientType type,
        int lengthBytes, float scale) {
        store(weights);
        device.fold(index, round, offset, gradient, gradientOffset, type, lengthBytes, scale);
        noteUpdate();
    }

    /** Applies the sum of gradients to the copy. {@code weights} are the weights of the block on the host. */
    void foldSum(MemorySegment weights, long round, long offset, int lengthBytes, float scale) {
        store(weights);
        device.foldSum(index, round, offset, lengthBytes, scale);
        noteUpdate();
    }

    private void store(MemorySegment weights) {
        if (needsStore) {
            device.store(index, weights);
            needsStore = false;
        }
    }

    private void noteUpdate() {
        hasNewerWeights = true;
        hasNewerState = true;
    }

    /** True if the weights on the device are newer than on the host, and their copy to the host has not started. */
    boolean hasNewerWeights() {
        return hasNewerWeights;
    }

    boolean isMirroredAtOnce() {
        return mirrorsAtOnce;
    }

    /** Starts a copy of the weights from the device to the host. */
    void startMirror(long memoryOffset) {
        mirrorTicket = device.mirror(index, memoryOffset);
        hasNewerWeights = false;
    }

    /** Returns the ticket of the newest copy of the weights to the host. */
    long mirrorTicket() {
        return mirrorTicket;
    }

    void awaitMirror() {
        device.awaitDone(mirrorTicket);
    }

    /** Waits until all operations up to a ticket are done. The caller need not hold the lock. */
    void awaitDone(long ticket) {
        device.awaitDone(ticket);
    }

    /** Copies the aggregator state to the host, if the state on the device is newer. */
    void loadState() {
        if (hasNewerState) {
            device.loadState(index);
            hasNewerState = false;
        }
    }

    /** Prepares a change of the block on the host: brings the weights and the aggregator state on the host up to date. */
    void prepareChangeOnHost() {
        awaitMirror();
        loadState();
        needsStore = true;
    }
}
