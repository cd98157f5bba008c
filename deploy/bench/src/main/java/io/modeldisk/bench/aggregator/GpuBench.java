package io.modeldisk.bench.aggregator;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Formula;
import io.modeldisk.aggregator.cuda.CudaException;
import io.modeldisk.aggregator.cuda.DeviceMemory;
import io.modeldisk.aggregator.device.Device;
import io.modeldisk.bench.report.GpuReport;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures an aggregator on a GPU: folds in device memory, in turn with the device's own copy function; and pushes through pinned
 * host memory, in turn with copies alone.
 */
public final class GpuBench {
    /** The name of an emulated device begins with this. */
    private static final String EMULATED = "(emulated";
    /** Copies to and from the host are measured from this size of blocks on. */
    private static final int LEAST_COPY_BYTES = 256 << 10;
    private static final List<Integer> FOLD_BLOCKS = List.of(1, 4, 16, 64, GpuModel.MOST_BLOCKS);
    private static final List<Integer> PUSH_BLOCKS = List.of(1, 4, 16, 64);

    private final String name;
    private final GpuModel model;
    private final int bytesPerByte;
    private final int pairs;
    private final Repetitions repetitions;
    private final Consumer<String> progress;

    private GpuBench(
        String name, GpuModel model, int bytesPerByte, int pairs, Repetitions repetitions,
        Consumer<String> progress) {
        this.name = name;
        this.model = model;
        this.bytesPerByte = bytesPerByte;
        this.pairs = pairs;
        this.repetitions = repetitions;
        this.progress = progress;
    }

    /**
     * Measures an aggregator on a device.
     *
     * @param device the name of the device, such as {@code cuda:0}
     * @param name the name of the aggregator in the report
     * @param bytes the size of the weights: a multiple of each block size
     * @param pairs the number of measurements of each
     * @param smoke whether each measurement is only one repetition, for tests; with an emulated device, it must be true
     * @param progress gets the step that begins
     * @throws IllegalArgumentException if there is no such device, if it has too little memory, or if it cannot run the
     *     aggregator
     * @throws IOException if no GPU can be used, or if a call of the driver fails
     */
    public static GpuReport run(
        String device, String name, Aggregator aggregator, long bytes, List<Integer> blockSizes, int pairs,
        boolean smoke, Consumer<String> progress)
        throws IOException {
        if (aggregator.formula() instanceof Formula.Nothing) {
            throw new IllegalArgumentException("the aggregator " + name + " does nothing on a device");
        }
        int ordinal = Device.named(device).number();
        try (GpuModel model = new GpuModel(ordinal, aggregator, bytes)) {
            String fullName = model.device.toString();
            boolean emulated = fullName.contains(EMULATED);
            if (emulated && !smoke) {
                throw new IllegalArgumentException(
                    "the device " + fullName + " is emulated, so its speed has no meaning");
            }
            int bytesPerByte = aggregator.formula() instanceof Formula.Assign ? 2 : 3 + 2 * model.stateArrays();
            GpuBench bench = new GpuBench(name, model, bytesPerByte, pairs, new Repetitions(smoke), progress);
            return new GpuReport(fullName, emulated, name, bytesPerByte, bench.folds(blockSizes),
                bench.pushes(blockSizes));
        } catch (UnsupportedOperationException | CudaException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private List<GpuReport.Folds> folds(List<Integer> blockSizes) throws IOException {
        List<GpuReport.Folds> results = new ArrayList<>();
        for (int blockBytes : blockSizes) {
            for (int blocks : FOLD_BLOCKS) {
                long launchBytes = (long) blockBytes * blocks;
                if (launchBytes <= model.weights.lengthBytes()) {
                    results.add(folds(blockBytes, blocks, (int) launchBytes));
                }
            }
        }
        return results;
    }

    private GpuReport.Folds folds(int blockBytes, int blocks, int launchBytes) throws IOException {
        progress.accept("folds of " + name + ", " + blocks + " blocks of " + ByteSize.exact(blockBytes));
        DeviceMemory[] from = GpuModel.parts(model.gradients, launchBytes);
        DeviceMemory[] to = GpuModel.parts(model.weights, launchBytes);
        model.forgetUpdates();
        double[][] rates = measure(times -> model.fold(times, blockBytes, blocks),
            times -> model.copy(times, from, to));
        return new GpuReport.Folds(blockBytes, blocks, Samples.of(times(rates[0], (double) launchBytes * bytesPerByte)),
            Samples.of(times(rates[1], 2.0 * launchBytes)));
    }

    private List<GpuReport.Pushes> pushes(List<Integer> blockSizes) throws IOException {
        List<GpuReport.Pushes> results = new ArrayList<>();
        for (int blockBytes : blockSizes) {
            if (blockBytes >= LEAST_COPY_BYTES) {
                try (GpuPushes path = new GpuPushes(model, blockBytes)) {
                    for (int blocks : PUSH_BLOCKS) {
                        if (path.fits(blocks)) {
                            results.add(pushes(path, blockBytes, blocks));
                        }
                    }
                }
            }
        }
        return results;
    }

    private GpuReport.Pushes pushes(GpuPushes path, int blockBytes, int blocks) throws IOException {
        progress.accept("pushes with " + name + ", " + blocks + " blocks of " + ByteSize.exact(blockBytes));
        model.forgetUpdates();
        double[][] rates = measure(path::copyToDevice, path::copyToHost, times -> path.push(times, blocks));
        return new GpuReport.Pushes(blockBytes, blocks, Samples.of(times(rates[0], blockBytes)),
            Samples.of(times(rates[1], blockBytes)), Samples.of(times(rates[2], (double) blockBytes * blocks)));
    }

    /** Measures each work in turn. Returns the repetitions in a second for each work and each turn. */
    private double[][] measure(Repetitions.Work... works) throws IOException {
        double[][] rates = new double[works.length][pairs];
        int[] times = new int[works.length];
        for (int i = 0; i < works.length; i++) {
            times[i] = repetitions.of(works[i]);
        }
        for (int turn = 0; turn < pairs; turn++) {
            for (int i = 0; i < works.length; i++) {
                rates[i][turn] = Repetitions.perSecond(works[i], times[i]);
            }
        }
        return rates;
    }

    private static double[] times(double[] rates, double bytes) {
        double[] bytesPerSecond = new double[rates.length];
        for (int i = 0; i < rates.length; i++) {
            bytesPerSecond[i] = rates[i] * bytes;
        }
        return bytesPerSecond;
    }
}
