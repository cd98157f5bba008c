package io.modeldisk.server;

import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a shard fits into the machine: asked before memory is taken, for a system that runs out of it kills processes. */
final class MemoryBudget {
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final String AVAILABLE = "MemAvailable:";
    private static final double GIB = 1L << 30;

    private MemoryBudget() {}

    /** What a shard takes: its weights, the aggregator's state, in bsp an accumulator, and spare blocks. */
    static double shardBytes(ServerSettings settings) {
        ModelFacts facts = settings.facts();
        int copies = 1 + settings.aggregator().stateBytesPerWeightByte()
            + (settings.consistency().appliesWholeRounds() ? 1 : 0);
        return (double) facts.blocksOfShard() * facts.blockSizeBytes() * copies
            + (double) settings.spareBlocks() * facts.blockSizeBytes();
    }

    /**
     * Checks that the machine has this much memory to give.
     *
     * @throws IllegalArgumentException if it has not, with both figures; a system that does not tell passes
     */
    static void check(double neededBytes, Path meminfo) {
        double available = availableBytes(meminfo);
        if (neededBytes > available) {
            throw new IllegalArgumentException(
                "the shard needs %.1f GiB of memory, this machine has %.1f GiB to give; use more shards on more machines"
                    .formatted(neededBytes / GIB, available / GIB));
        }
    }

    static void check(ServerSettings settings) {
        check(shardBytes(settings), MEMINFO);
    }

    private static double availableBytes(Path meminfo) {
        try {
            for (String line : Files.readAllLines(meminfo)) {
                if (line.startsWith(AVAILABLE)) {
                    return Long.parseLong(line.substring(AVAILABLE.length()).replace("kB", "").strip()) * 1024.0;
                }
            }
        } catch (IOException | NumberFormatException e) {
            return Double.POSITIVE_INFINITY;
        }
        return Double.POSITIVE_INFINITY;
    }
}
