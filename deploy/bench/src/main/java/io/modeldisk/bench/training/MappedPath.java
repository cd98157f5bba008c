package io.modeldisk.bench.training;

import io.modeldisk.mount.ModelMount;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** The access of a learner that maps the buffers of a mount. Nothing is copied: the learner computes in these buffers. */
final class MappedPath implements LearnerPath {
    private final ModelMount mount;
    private final FileChannel control;
    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> weights = new ArrayList<>();
    private final List<MemorySegment> gradients = new ArrayList<>();
    private int set;
    private float used;

    /** Maps the buffers of a mount. The caller closes the mount. */
    MappedPath(ModelMount mount) throws IOException {
        this.mount = mount;
        this.control = FileChannel.open(file("control"), StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            for (int n = 0; Files.exists(file("weights." + n)); n++) {
                weights.add(map("weights." + n));
                gradients.add(map("gradient." + n));
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private Path file(String name) {
        return mount.directory().resolve("mapped").resolve(name);
    }

    private MemorySegment map(String name) throws IOException {
        try (FileChannel channel = FileChannel.open(file(name), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
        }
    }

    @Override
    public void readWeights() {
        used = weights.get(set).get(ValueLayout.JAVA_FLOAT, 0);
    }

    @Override
    public void writeGradient() {
        gradients.get(set).set(ValueLayout.JAVA_FLOAT, 0, used);
    }

    @Override
    public void synchronize() throws IOException {
        control.force(true);
        set = (set + 1) % weights.size();
    }

    @Override
    public void close() throws IOException {
        arena.close();
        control.close();
    }
}
