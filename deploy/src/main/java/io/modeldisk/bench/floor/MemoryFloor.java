package io.modeldisk.bench.floor;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;

/**
 * What shared memory could reach: one thread that goes over a model in blocks of 256 KiB as a shard does, copies each to a
 * buffer as a pull does, or has an aggregator fold a buffer into it as a push does, and nothing else. The buffers take turns, as
 * many as a session has requests under way.
 */
public final class MemoryFloor {
    private static final int BLOCK_BYTES = 256 << 10;
    private static final int RUNS = 7;

    private MemoryFloor() {}

    private interface Step {
        void run(long modelOffset, long bufferOffset);
    }

    /** Measures a copy and each aggregator over a model of this size, with so many buffers, as lines of text. */
    public static String report(long modelBytes, int buffers, String... aggregators) {
        long bytes = modelBytes / BLOCK_BYTES * BLOCK_BYTES;
        StringBuilder text = new StringBuilder("\none thread, " + buffers + " buffers of 256 KiB, medians:\n");
        try (DataMemory model = DataMemory.allocate(bytes);
            DataMemory data = DataMemory.allocate((long) buffers * BLOCK_BYTES)) {
            line(text, "memory copy", bytes, data.bytes(), (at, buffer) -> MemorySegment.copy(model.slab(at),
                DataMemory.offsetInSlab(at), data.slab(buffer),
                DataMemory.offsetInSlab(buffer), BLOCK_BYTES));
            for (String specification : aggregators) {
                try (Aggregator aggregator = Aggregators.parse(specification)) {
                    MemorySegment state = MemorySegment.ofArray(
                        new byte[BLOCK_BYTES * aggregator.stateBytesPerWeightByte()]);
                    line(text, specification + " alone", bytes, data.bytes(),
                        (at, buffer) -> aggregator.aggregate(new OneBlock(model.segment(at, BLOCK_BYTES), state), 0,
                            data.slab(buffer),
                            DataMemory.offsetInSlab(buffer), BLOCK_BYTES, 1));
                }
            }
        }
        return text.toString();
    }

    private record OneBlock(MemorySegment weights, MemorySegment state) implements BlockMemory {
        @Override
        public long version() {
            return 0;
        }
    }

    private static void line(StringBuilder text, String what, long bytes, long bufferBytes, Step step) {
        double[] rates = new double[RUNS];
        for (int run = 0; run < RUNS; run++) {
            long begun = System.nanoTime();
            long buffer = 0;
            for (long at = 0; at < bytes; at += BLOCK_BYTES) {
                step.run(at, buffer);
                buffer = buffer + BLOCK_BYTES == bufferBytes ? 0 : buffer + BLOCK_BYTES;
            }
            // Bytes a nanosecond are gigabytes a second.
            rates[run] = bytes / (double) (System.nanoTime() - begun);
        }
        Arrays.sort(rates);
        text.append(String.format(Locale.ROOT, "%-20s %6.2f GB/s%n", what, rates[RUNS / 2]));
    }
}
