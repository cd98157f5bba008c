package io.modeldisk.bench.training;

import io.modeldisk.mount.ModelMount;
import io.modeldisk.mount.MountContext;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The access of a learner through the file of a mount. Reads and writes copy data between the mount and the memory of the
 * learner.
 */
final class MountPath implements LearnerPath {
    private final Path directory;
    private final ModelMount mount;
    private final FileChannel file;
    private final DataMemory memory;
    private final ByteBuffer[] slabs;
    private final long sizeBytes;
    private final boolean direct;
    private final IterationTrace trace;
    private long iteration = 1;
    private long readNs;

    private MountPath(Path directory, ModelMount mount, FileChannel file, long sizeBytes, boolean direct) {
        this.directory = directory;
        this.mount = mount;
        this.file = file;
        this.sizeBytes = sizeBytes;
        this.direct = direct;
        this.trace = mount.trace();
        this.memory = DataMemory.allocate(sizeBytes);
        this.slabs = memory.newViews();
    }

    static LearnerPath open(RemoteModel model, Variant variant, String learner) throws IOException {
        Path directory = Files.createTempDirectory("modeldisk-bench");
        try {
            ModelMount mount = ModelMount.launch(new MountContext().directory(directory).remoteModel(model)
                .exchange(variant.exchange()).pull(variant.pull()).learner(learner));
            try {
                FileChannel file = FileChannel.open(directory.resolve("model"), StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
                return new MountPath(directory, mount, file, model.facts().sizeBytes(),
                    variant.exchange() == ExchangeScheme.DIRECT);
            } catch (IOException | RuntimeException e) {
                mount.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            Files.delete(directory);
            throw e;
        }
    }

    @Override
    public IterationTrace trace() {
        return trace;
    }

    @Override
    public void readWeights() throws IOException {
        long startNs = trace.nowNs();
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
        readNs = trace.nowNs();
        note(Phase.PULL, startNs, readNs);
        note(Phase.STALL, startNs, readNs);
    }

    @Override
    public void writeGradient() throws IOException {
        long startNs = trace.nowNs();
        note(Phase.COMPUTE, readNs, startNs);
        long at = 0;
        for (ByteBuffer slab : slabs) {
            slab.clear();
            while (slab.hasRemaining()) {
                at += file.write(slab, at);
            }
        }
        note(Phase.PUSH, startNs, trace.nowNs());
        note(Phase.STALL, startNs, trace.nowNs());
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
        try {
            file.close();
        } finally {
            mount.close();
            memory.close();
            Files.delete(directory);
        }
    }
}
