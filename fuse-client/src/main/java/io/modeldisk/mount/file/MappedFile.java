package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A file whose content is a buffer of the exchange, such as {@code mapped/weights.0}. A learner maps the file (MAP_SHARED), reads
 * weights or stores a gradient in the map, and calls fsync on {@link ControlFile}. The datamover sends and receives this memory
 * directly, so the mount copies no byte.
 */
public record MappedFile(BufferedExchange exchange, int set, boolean gradient, long bytes) implements MountedFile {
    /** Returns one file for each buffer of an exchange. {@code sizeBytes} is the size of the model. */
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
