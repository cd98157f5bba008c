package io.modeldisk.bench.aggregator;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.bench.load.Turns;
import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.Table;
import io.modeldisk.bench.report.Unit;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/** Measures the throughput of an aggregator on one core, with weights that are larger than the processor's caches. */
public final class AggregatorBench {
    private static final int WARM_UP_PASSES = 3;
    private static final int BLOCK_BYTES = 256 << 10;
    private static final long STATE_ALIGNMENT = 4096;
    private static final float WEIGHT = 1;
    private static final float GRADIENT = 0.5f;

    private AggregatorBench() {}

    /**
     * Measures an aggregator, a loop in C, and memcpy, in alternation. The loop is the same optimizer as the aggregator. If
     * {@link CLoop} has no such loop, the loop is sgd.
     *
     * @param name the name of the aggregator in the report
     * @param bytes the size of the weights, a multiple of 256 KiB
     */
    public static Report run(String name, Aggregator aggregator, long bytes, int rounds) throws IOException {
        String own = name.split(":", 2)[0];
        String loopName = CLoop.has(own) ? own : "sgd";
        try (
            CLoop loop = CLoop.start(bytes, BLOCK_BYTES);
            DataMemory weights = filled(bytes, WEIGHT);
            DataMemory gradients = filled(bytes, GRADIENT);
            Arena state = Arena.ofShared()) {
            int blocks = Math.toIntExact(bytes / BLOCK_BYTES);
            long stateBytes = LogicalBlock.in(BLOCK_BYTES) * aggregator.stateBytesPerLogicalBlock();
            Block[] model = new Block[blocks];
            for (int i = 0; i < blocks; i++) {
                MemorySegment remembered = stateBytes == 0
                    ? MemorySegment.NULL
                    : state.allocate(stateBytes, STATE_ALIGNMENT);
                model[i] = new Block(weights.segment((long) i * BLOCK_BYTES, BLOCK_BYTES), remembered, 1);
            }
            Map<String, Turns.Once<Double>> passes = new LinkedHashMap<>();
            passes.put("aggregator", () -> (double) bytes / pass(aggregator, model, gradients));
            passes.put("loop", () -> (double) bytes / loop.pass(loopName));
            passes.put("memcpy", () -> (double) bytes / loop.pass("copy"));
            Turns.repeat(WARM_UP_PASSES, passes);
            Report report = new Report("aggregator");
            Table.Row row = report.table("aggregator",
                "Throughput of gradient on one core: medians of " + rounds + " runs in turn", "aggregator", "loop in C")
                .row(name, loopName);
            Turns.repeat(rounds, passes).forEach((pass, rates) -> row.put(pass, Unit.GIGABYTES_PER_SECOND,
                new Samples(rates.stream().mapToDouble(Double::doubleValue).toArray())));
            row.ratio("aggregator", "loop").ratio("aggregator", "memcpy");
            return report;
        }
    }

    private static long pass(Aggregator aggregator, Block[] model, DataMemory gradients) {
        long begun = System.nanoTime();
        for (int i = 0; i < model.length; i++) {
            long at = (long) i * BLOCK_BYTES;
            aggregator.aggregate(model[i], 0, gradients.slab(at), DataMemory.offsetInSlab(at), BLOCK_BYTES, 1);
        }
        return System.nanoTime() - begun;
    }

    private static DataMemory filled(long bytes, float value) {
        DataMemory memory = DataMemory.allocate(bytes);
        for (long at = 0; at < bytes; at += Float.BYTES) {
            memory.slab(at).set(ValueLayout.JAVA_FLOAT, DataMemory.offsetInSlab(at), value);
        }
        return memory;
    }

    private record Block(MemorySegment weights, MemorySegment state, long round) implements BlockMemory {}
}
