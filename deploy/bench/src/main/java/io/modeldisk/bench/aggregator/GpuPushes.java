package io.modeldisk.bench.aggregator;

import io.modeldisk.aggregator.cuda.Batch;
import io.modeldisk.aggregator.cuda.CudaEvent;
import io.modeldisk.aggregator.cuda.CudaStream;
import io.modeldisk.aggregator.cuda.DeviceMemory;
import io.modeldisk.aggregator.cuda.PinnedMemory;
import java.io.IOException;
import java.util.stream.Stream;

/**
 * The way of pushes through pinned host memory: copies to the device, folds, and copies of the new weights to the host, on three
 * streams. Used by one thread.
 */
final class GpuPushes implements AutoCloseable {
    /** The device has gradients of so many launches at a time. */
    private static final int SLOTS = GpuModel.IN_FLIGHT;

    private final GpuModel model;
    private final int blockBytes;
    private final DeviceMemory[] gradients;
    private final DeviceMemory[] weights;
    private final PinnedMemory[] pushes;
    private final PinnedMemory[] mirrors;
    private final CudaStream arrivals;
    private final CudaStream folds;
    private final CudaStream departures;
    private final CudaEvent[] arrived;
    private final CudaEvent[] folded;
    private final CudaEvent[] mirrored;

    GpuPushes(GpuModel model, int blockBytes) {
        this.model = model;
        this.blockBytes = blockBytes;
        this.gradients = GpuModel.parts(model.gradients, blockBytes);
        this.weights = GpuModel.parts(model.weights, blockBytes);
        this.pushes = GpuModel.parts(model.pushes, blockBytes);
        this.mirrors = GpuModel.parts(model.mirrors, blockBytes);
        this.arrivals = model.device.newStream();
        this.folds = model.device.newStream();
        this.departures = model.device.newStream();
        this.arrived = events();
        this.folded = events();
        this.mirrored = events();
    }

    private CudaEvent[] events() {
        return Stream.generate(model.device::newEvent).limit(SLOTS).toArray(CudaEvent[]::new);
    }

    /** Returns whether the memory suffices for launches of this number of blocks. */
    boolean fits(int blocks) {
        return (long) blocks * SLOTS <= weights.length;
    }

    /** Copies blocks from pinned memory to the device. */
    void copyToDevice(int blocks) throws IOException {
        for (int i = 0; i < blocks; i++) {
            arrivals.copyToDevice(pushes[i % pushes.length], gradients[i % gradients.length], blockBytes);
        }
        model.finish(arrivals);
    }

    /** Copies blocks from the device to pinned memory. */
    void copyToHost(int blocks) throws IOException {
        for (int i = 0; i < blocks; i++) {
            departures.copyToHost(weights[i % weights.length], mirrors[i % mirrors.length], blockBytes);
        }
        model.finish(departures);
    }

    /** Pushes blocks: {@code launches} launches of {@code blocks} blocks each. */
    void push(int launches, int blocks) throws IOException {
        for (int i = 0; i < launches; i++) {
            int slot = i % SLOTS;
            int first = i * blocks;
            // The gradients of the launch before in this slot are folded, so that new ones may overwrite them.
            arrivals.waitFor(folded[slot]);
            for (int n = 0; n < blocks; n++) {
                arrivals.copyToDevice(pushes[(first + n) % pushes.length], gradients[slot * blocks + n], blockBytes);
            }
            Batch batch = model.begin();
            for (int n = 0; n < blocks; n++) {
                model.fold(batch, (long) ((first + n) % weights.length) * blockBytes,
                    (long) (slot * blocks + n) * blockBytes, blockBytes);
            }
            batch.stage(arrivals);
            arrivals.record(arrived[slot]);
            folds.waitFor(arrived[slot]);
            // The weights are folded again only after several launches. Then their copy in this slot has ended.
            folds.waitFor(mirrored[slot]);
            model.launch(batch, folds);
            folds.record(folded[slot]);
            departures.waitFor(folded[slot]);
            for (int n = 0; n < blocks; n++) {
                int at = (first + n) % weights.length;
                departures.copyToHost(weights[at], mirrors[at % mirrors.length], blockBytes);
            }
            departures.record(mirrored[slot]);
        }
        model.finish();
        model.finish(departures);
    }

    @Override
    public void close() {
        for (CudaEvent[] events : new CudaEvent[][]{arrived, folded, mirrored}) {
            Stream.of(events).forEach(CudaEvent::close);
        }
        Stream.of(arrivals, folds, departures).forEach(CudaStream::close);
    }
}
