package io.modeldisk.bench.training;

import io.modeldisk.mount.ModelMount;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/**
 * The access of a learner through the file of a mount. Reads and writes copy data between the mount and the memory of the
 * learner.
 */
final class MountPath implements LearnerPath {
    private final FileChannel file;
    private final DataMemory memory;
    private final ByteBuffer[] slabs;
    private final long sizeBytes;
    private final boolean direct;
    private final IterationTrace trace;
    private long iteration = 1;
    private long readNs;

    /** Opens the file of a mount. The caller closes the mount. */
    MountPath(ModelMount mount, long sizeBytes, boolean direct) throws IOException {
        this.file = FileChannel.open(mount.directory().resolve("model"), StandardOpenOption.READ,
            StandardOpenOption.WRITE);
        this.sizeBytes = sizeBytes;
        this.direct = direct;
        this.trace = mount.trace();
        this.memory = DataMemory.allocate(sizeBytes);
        this.slabs = memory.newViews();
    }

    @Override
    public void readWeights() throws IOException {
        long startNs = trace.clock().nanoTime();
        long at = 0;
        for (ByteBuffer slab : slabs) {
            slab.clear();
            while (slab.hasRemaining()) {
                int read = file.read(slab, at);
                if (read < 0) {
                    throw new IOException("the model file ended at byte " + at + " of " + sizeBytes);
                }
                at += read;
            }
        }
        readNs = trace.clock().nanoTime();
        note(Phase.PULL, startNs, readNs);
        note(Phase.STALL, startNs, readNs);
    }

    @Override
    public void writeGradient() throws IOException {
        long startNs = trace.clock().nanoTime();
        note(Phase.COMPUTE, readNs, startNs);
        long at = 0;
        for (ByteBuffer slab : slabs) {
            slab.clear();
            while (slab.hasRemaining()) {
                at += file.write(slab, at);
            }
        }
        note(Phase.PUSH, startNs, trace.clock().nanoTime());
        note(Phase.STALL, startNs, trace.clock().nanoTime());
    }

    /** Records a phase if the exchange scheme is {@code direct}. The other schemes record their phases themselves. */
    private void note(Phase phase, long startNs, long endNs) {
        if (direct) {
            trace.add(phase, iteration, startNs, endNs);
        }
    }

    @Override
    public void synchronize() throws IOException {
        file.force(true);
        iteration++;
    }

    @Override
    public void close() throws IOException {
        file.close();
        memory.close();
    }
}
