package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A file whose content is a buffer of the exchange, such as {@code mapped/weights.0}. A learner maps it (MAP_SHARED), reads
 * weights or stores a gradient there, and calls fsync on {@link ControlFile}. The datamover moves the same memory, so no byte is
 * copied.
 */
public record MappedFile(BufferedExchange exchange, int set, boolean gradient, long bytes) implements MountedFile {
    /** Returns the files of all buffers that an exchange has for a model of this size. */
    public static List<MountedFile> of(BufferedExchange exchange, long sizeBytes) {
        List<MountedFile> files = new ArrayList<>();
        for (int set = 0; set < exchange.sets(); set++) {
            files.add(new MappedFile(exchange, set, false, sizeBytes));
            files.add(new MappedFile(exchange, set, true, sizeBytes));
        }
        return files;
    }

    @Override
    public String name() {
        return (gradient ? MountEntry.MAPPED_GRADIENT : MountEntry.MAPPED_WEIGHTS).fileName().replace("N",
            Integer.toString(set));
    }

    @Override
    public boolean is(Trait trait) {
        return trait == Trait.WRITABLE || trait == Trait.MEMORY;
    }

    @Override
    public long sizeBytes() {
        return bytes;
    }

    @Override
    public DataMemory memory(Cancellation cancellation) throws IOException {
        return exchange.buffer(set, gradient, cancellation);
    }
}
