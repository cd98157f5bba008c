package io.modeldisk.mount;

import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.text.PlainText;
import java.io.IOException;

/**
 * Checks before a mount that the buffers of an exchange fit into memory. Without this check, memory could run out during the
 * training, and Linux would kill the process.
 */
final class BufferMemory {
    private static final double GIB = 1L << 30;

    private BufferMemory() {}

    /**
     * Checks that this process can allocate the memory that an exchange needs.
     *
     * @throws IOException if the memory is too small; the message has the needed and the available size
     */
    static void require(long neededBytes, String exchange, MemoryLimit limit) throws IOException {
        if (!limit.allows(neededBytes)) {
            throw new IOException(
                PlainText.format("exchange %s needs %.2f GiB of memory, but this process has %s", exchange,
                    neededBytes / GIB, limit.describe())
                    + "; choose another exchange: sync needs twice the model's size, overlap four times, direct none");
        }
    }
}
