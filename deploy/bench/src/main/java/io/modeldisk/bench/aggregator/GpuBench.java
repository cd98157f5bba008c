package io.modeldisk.bench.aggregator;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Formula;
import io.modeldisk.aggregator.cuda.CudaDevice;
import io.modeldisk.aggregator.cuda.CudaEvent;
import io.modeldisk.aggregator.cuda.CudaException;
import io.modeldisk.aggregator.cuda.CudaStream;
import io.modeldisk.aggregator.cuda.DeviceMemory;
import io.modeldisk.aggregator.cuda.PinnedMemory;
import io.modeldisk.aggregator.device.Device;
import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.bench.load.Measured;
import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.load.Turns;
import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.Table;
import io.modeldisk.bench.report.Unit;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures the throughput of a shard's blocks on a GPU, and for comparison the throughput of the GPU's own copies. */
public final class GpuBench {
    private static final List<Integer> BLOCK_BYTES = List.of(4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20);
    private static final long COPY_BYTES = 32L << 20;
    private static final long RUN_MS = 50;
    /** The bytes of memory traffic for each byte copied: one is read and one is written. */
    private static final int TRAFFIC_OF_A_COPY = 2;
    /** A part of the name of every emulated device. The speed of such a device means nothing. */
    private static final String EMULATED = "(emulated";
    private static final long EMULATED_BYTES = 4L << 20;
    private static final float VALUE = 0.5f;

    private final CudaStream stream;
    private final CudaEvent done;
    private final DeviceMemory from;
    private final DeviceMemory to;
    private final PinnedMemory host;

    private GpuBench(CudaDevice copies) {
        this.stream = copies.newStream();
        this.done = copies.newEvent();
        this.from = copies.allocate(COPY_BYTES);
        this.to = copies.allocate(COPY_BYTES);
        this.host = copies.allocatePinned(COPY_BYTES);
    }

    /**
     * Measures an aggregator on a device. On an emulated device, everything runs once, and the report has no figures.
     *
     * @param name the name of the device, such as {@code cuda:0}
     * @param specification the name of the aggregator in the report
     * @param bytes the size of the weights
     * @throws IllegalArgumentException if there is no such device, or it cannot run the aggregator
     * @throws IOException if no GPU can be used, or a call of the driver fails
     */
    public static Report run(String name, String specification, Aggregator aggregator, long bytes, int rounds)
        throws IOException {
        Arguments.require(!(aggregator.formula() instanceof Formula.Nothing),
            "the aggregator " + specification + " does nothing on a device; choose another with --aggregator");
        Device device = Device.named(name);
        try {
            String fullName = name(device);
            boolean emulated = fullName.contains(EMULATED);
            int traffic = aggregator.formula() instanceof Formula.Assign
                ? 2
                : 3 + 2 * aggregator.stateBytesPerLogicalBlock() / LogicalBlock.BYTES;
            Report report = new Report("aggregator on a device").fact("device", fullName)
                .fact("emulated", emulated).fact("foldBytesPerByte", traffic);
            Table table = report.table("blocks", specification + " on " + fullName
                + "\nfolds and device copies: the bytes of device memory that are read and written count, which are "
                + traffic
                + " for each byte of gradient and " + TRAFFIC_OF_A_COPY
                + " for each copied byte.\npushes: the bytes of gradient count; they go through pinned host memory.",
                "block");
            Turns turns = new Turns(emulated ? 1 : rounds, emulated ? 0 : RUN_MS);
            for (int blockBytes : BLOCK_BYTES) {
                Progress.show("blocks of " + ByteSize.exact(blockBytes));
                long size = emulated ? EMULATED_BYTES : bytes;
                Map<String, List<Measured>> found = copies(turns, device, size, blockBytes);
                found.putAll(blocks(turns, device, aggregator, size, blockBytes));
                Table.Row row = table.row(new ByteSize(blockBytes));
                if (!emulated) {
                    Map<String, Integer> counted = Map.of("folds", traffic, "device copies", TRAFFIC_OF_A_COPY);
                    found.forEach((each, runs) -> row.put(each, Unit.GIGABYTES_PER_SECOND,
                        Measured.gigabytesPerSecond(runs, (double) blockBytes * counted.getOrDefault(each, 1))));
                    row.ratio("folds", "device copies").ratio("pushes", "copies to the device");
                }
            }
            if (emulated) {
                report.note(
                    "The device is emulated, so its speed has no meaning: all measurements ran once, without figures.");
            }
            return report;
        } catch (UnsupportedOperationException | CudaException | DeviceException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static String name(Device device) {
        try (CudaDevice opened = CudaDevice.open(device.number(), COPY_BYTES)) {
            return opened.toString();
        }
    }

    /**
     * Measures the copies of the GPU. They use a separate CUDA context, so they are measured before the blocks, and not in turn
     * with the blocks.
     */
    private static Map<String, List<Measured>> copies(Turns turns, Device device, long bytes, int blockBytes)
        throws IOException {
        try (CudaDevice opened = CudaDevice.open(device.number(), 3 * COPY_BYTES)) {
            GpuBench bench = new GpuBench(opened);
            Map<String, Turns.Run> variants = new LinkedHashMap<>();
            variants.put("device copies", count -> bench.copied(count, blockBytes, false));
            variants.put("copies to the device", count -> bench.copied(count, blockBytes, true));
            return turns.measure(bytes / blockBytes, variants);
        }
    }

    private static Map<String, List<Measured>> blocks(
        Turns turns, Device device, Aggregator aggregator, long bytes, int blockBytes) throws IOException {
        int blocks = Math.toIntExact(bytes / blockBytes);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment gradient = arena.allocate(blockBytes, LogicalBlock.BYTES);
            for (long at = 0; at < blockBytes; at += Float.BYTES) {
                gradient.set(ValueLayout.JAVA_FLOAT, at, VALUE);
            }
            long stateBytes = LogicalBlock.in(blockBytes) * aggregator.stateBytesPerLogicalBlock();
            // The aggregator state of all blocks begins as zeros, so all blocks can read it from the same host memory.
            MemorySegment state = stateBytes == 0 ? MemorySegment.NULL : arena.allocate(stateBytes, LogicalBlock.BYTES);
            try (DeviceBlocks model = device.open(new DeviceShape(bytes, blockBytes, aggregator, true, 0,
                List.of(arena.allocate(bytes, LogicalBlock.BYTES)), _ -> state, NanoClock.SYSTEM, "bench"))) {
                model.listen(() -> {}, _ -> {});
                for (int i = 0; i < blocks; i++) {
                    model.store(i, gradient);
                    model.accumulate(i, 0, gradient, 0, GradientType.FLOAT32, blockBytes, true);
                }
                Map<String, Turns.Run> variants = new LinkedHashMap<>();
                variants.put("folds", count -> measured(count, i -> model
                    .foldSum((int) (i % blocks), 1, 0, blockBytes, 1), model));
                variants.put("pushes", count -> measured(count, i -> model.fold((int) (i % blocks), 1, 0, gradient, 0,
                    GradientType.FLOAT32, blockBytes, 1), model));
                return turns.measure(blocks, variants);
            }
        }
    }

    @FunctionalInterface
    private interface Operation {
        /** Puts an operation into the queue of the device, and returns its ticket. */
        long put(long number);
    }

    private static Measured measured(long count, Operation operation, DeviceBlocks model) {
        long begun = System.nanoTime();
        long ticket = 0;
        for (long i = 0; i < count; i++) {
            ticket = operation.put(i);
        }
        model.awaitDone(ticket);
        return Measured.of(count, System.nanoTime() - begun);
    }

    /**
     * Copies the bytes of {@code count} blocks: within the device in large pieces, or from the host to the device one block at a
     * time.
     */
    private Measured copied(long count, int blockBytes, boolean fromHost) {
        long begun = System.nanoTime();
        long piece = fromHost ? blockBytes : Math.min(COPY_BYTES, count * blockBytes);
        for (long left = count * blockBytes; left > 0; left -= piece) {
            long length = Math.min(piece, left);
            if (fromHost) {
                stream.copyToDevice(host, to, length);
            } else {
                stream.copyOnDevice(from, to, length);
            }
        }
        stream.record(done);
        // A thread that sleeps would add the time of its wake-up to the measurement.
        while (!done.isComplete()) {
            Thread.onSpinWait();
        }
        return Measured.of(count, System.nanoTime() - begun);
    }
}
