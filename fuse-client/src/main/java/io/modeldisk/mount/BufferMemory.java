package io.modeldisk.mount;

import io.modeldisk.platform.linux.MemoryLimit;
import java.io.IOException;

/** Checks that the buffers of an exchange fit: Linux kills processes when memory runs out. */
final class BufferMemory {
    private static final double GIB = 1L << 30;

    private BufferMemory() {}

    /**
     * Checks that this much memory can be taken.
     *
     * @throws IOException if not, with both figures
     */
    static void require(long neededBytes, String exchange, MemoryLimit limit) throws IOException {
        if (!limit.allows(neededBytes)) {
            throw new IOException("exchange %s needs %.2f GiB of memory for its buffers: %s".formatted(exchange,
                neededBytes / GIB, limit.describe())
                + "; sync needs twice the model, overlap four times, direct nothing");
        }
    }
}
