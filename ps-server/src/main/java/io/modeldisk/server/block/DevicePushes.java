package io.modeldisk.server.block;

import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.PushMemory;
import io.modeldisk.protocol.engine.DeviceWrites;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.DeviceTarget.PushTo;
import java.io.IOException;
import java.util.function.LongFunction;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** The memory of a device in which gradients arrive. Thread-safe. */
public final class DevicePushes implements DeviceWrites {
    /** The size of the memory in bytes. It holds 256 gradients of 256 KiB that arrive, wait or are applied at the same time. */
    public static final long BYTES = 64L << 20;

    private static final Logger LOG = LogManager.getLogger(DevicePushes.class);

    private final DeviceBlocks device;
    private final PushTo wanted;
    private volatile DataMemory memory;
    private volatile String place;

    /** @param obstacle the reason why the device has no memory for gradients; null if it has such memory */
    private DevicePushes(DeviceBlocks device, PushTo wanted, String obstacle) {
        this.device = device;
        this.wanted = wanted;
        PushMemory pushes = device.pushMemory();
        if (pushes == null) {
            useHost(obstacle);
        } else {
            memory = memory(pushes);
            place = "memory of the device";
        }
    }

    private void useHost(String reason) {
        place = "host memory";
        if (wanted == PushTo.AUTO) {
            LOG.info("gradients arrive in host memory, because GPUDirect RDMA is not possible: {}", reason);
        }
    }

    /**
     * Opens a device, with memory for gradients if possible.
     *
     * @param shape creates the description of the data on the device for a given size of the memory for gradients, in bytes
     * @param obstacle the reason why gradients must arrive in host memory; null if they may arrive in device memory
     * @throws IllegalArgumentException if the device cannot be used, or has too little memory
     */
    static DevicePushes open(DeviceTarget target, LongFunction<DeviceShape> shape, String obstacle) {
        String reason = obstacle;
        if (target.pushTo() != PushTo.HOST && reason == null) {
            try {
                return new DevicePushes(target.device().open(shape.apply(BYTES)), target.pushTo(), null);
            } catch (IllegalArgumentException e) {
                reason = e.getMessage();
            }
        }
        if (target.pushTo() == PushTo.DEVICE) {
            throw impossible(reason);
        }
        return new DevicePushes(target.device().open(shape.apply(0)), target.pushTo(), reason);
    }

    DeviceBlocks device() {
        return device;
    }

    /** Returns memory of a device in the form in which a datamover registers it. */
    public static DataMemory memory(PushMemory pushes) {
        return DataMemory.onDevice(pushes.segment(), new DataMemory.OnDevice(pushes.dmaBuf(), pushes.noDmaBuf()));
    }

    private static IllegalArgumentException impossible(String reason) {
        return new IllegalArgumentException("--push-to=device is not possible: " + reason
            + "; use --push-to=auto or --push-to=host");
    }

    /** True if gradients may arrive in memory of the device. */
    public boolean isPossible() {
        return memory != null;
    }

    @Override
    public DataMemory memory() {
        return memory;
    }

    @Override
    public void registered(String way) {
        place = "device memory by " + way;
    }

    @Override
    public void refused(String reason) throws IOException {
        if (wanted == PushTo.DEVICE) {
            throw new IOException(impossible(reason).getMessage());
        }
        memory = null;
        device.freePushMemory();
        useHost(reason);
    }

    @Override
    public long newestOperation() {
        return device.newest();
    }

    @Override
    public long lastDoneOperation() {
        return device.applied();
    }

    /** Returns where gradients arrive, such as {@code device memory by dma-buf} or {@code host memory}. */
    @Override
    public String toString() {
        return place;
    }
}
