package io.modeldisk.doctor;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.device.Device;
import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.server.block.DevicePushes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * The result of an attempt to let the RDMA devices of this machine reach memory of a GPU.
 *
 * @param way how the RDMA devices reach the memory, such as {@code dma-buf}; null if they do not
 * @param obstacle the reason why the RDMA devices do not reach the memory; null if they do
 */
record GpuDirectTrial(String way, String obstacle) {
    private static final int BLOCK_BYTES = 4096;
    private static final long PUSH_BYTES = 2 << 20;

    /** Allocates a little memory of a GPU, and registers it with all RDMA devices. */
    static GpuDirectTrial ofThisMachine(String device) {
        // The doctor command runs without the Vector API module, which every aggregator except null needs.
        try (Arena arena = Arena.ofShared();
            Aggregator aggregator = Aggregators.parse("null");
            DeviceBlocks blocks = Device.named(device).open(new DeviceShape(BLOCK_BYTES, BLOCK_BYTES, aggregator, false,
                PUSH_BYTES, List.of(arena.allocate(BLOCK_BYTES, BLOCK_BYTES)), _ -> MemorySegment.NULL,
                NanoClock.SYSTEM, "doctor"));
            TargetPortal portal = IserProvider.find().opener().open(new InetSocketAddress("0.0.0.0", 0), "doctor")) {
            return new GpuDirectTrial(portal.prepareOnDevice(DevicePushes.memory(blocks.pushMemory())), null);
        } catch (IOException | IllegalArgumentException | DeviceException e) {
            return new GpuDirectTrial(null, e.getMessage());
        }
    }
}
