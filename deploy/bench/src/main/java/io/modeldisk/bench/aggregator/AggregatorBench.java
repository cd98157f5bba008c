package io.modeldisk.bench.aggregator;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.bench.report.AggregatorReport;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Measures the throughput of an aggregator on one core, with weights that are larger than the processor's caches. */
public final class AggregatorBench {
    private static final int WARM_UP_PASSES = 3;
    private static final double SECOND_NS = 1e9;
    private static final long STATE_ALIGNMENT = 4096;
    private static final float WEIGHT = 1;
    private static final float GRADIENT = 0.5f;

    private AggregatorBench() {}

    /**
     * Measures an aggregator, the same optimizer as a loop in C, and memcpy, in alternation. If the aggregator is no optimizer,
     * the loop is sgd.
     *
     * @param name the name of the aggregator in the report
     * @param bytes the size of the weights, a multiple of the block size
     */
    public static AggregatorReport run(String name, Aggregator aggregator, long bytes, int blockBytes, int pairs)
        throws IOException {
        double[] ours = new double[pairs];
        double[] loops = new double[pairs];
        double[] copies = new double[pairs];
        String own = name.split(":", 2)[0];
        String loopName = CLoop.has(own) ? own : "sgd";
        try (
            CLoop loop = CLoop.start(bytes, blockBytes);
            DataMemory weights = filled(bytes, WEIGHT);
            DataMemory gradients = filled(bytes, GRADIENT);
            Arena state = Arena.ofShared()) {
            int blocks = Math.toIntExact(bytes / blockBytes);
            long stateBytes = LogicalBlock.in(blockBytes) * aggregator.stateBytesPerLogicalBlock();
            Block[] model = new Block[blocks];
            for (int i = 0; i < blocks; i++) {
                MemorySegment remembered = stateBytes == 0
                    ? MemorySegment.NULL
                    : state.allocate(stateBytes, STATE_ALIGNMENT);
                model[i] = new Block(weights.segment((long) i * blockBytes, blockBytes), remembered, 1);
            }
            for (int i = 0; i < WARM_UP_PASSES; i++) {
                pass(aggregator, model, gradients, blockBytes);
                loop.pass(loopName);
                loop.pass("copy");
            }
            for (int i = 0; i < pairs; i++) {
                ours[i] = bytes * SECOND_NS / pass(aggregator, model, gradients, blockBytes);
                loops[i] = bytes * SECOND_NS / loop.pass(loopName);
                copies[i] = bytes * SECOND_NS / loop.pass("copy");
            }
        }
        return new AggregatorReport(name, loopName, Samples.of(ours), Samples.of(loops), Samples.of(copies));
    }

    private static long pass(Aggregator aggregator, Block[] model, DataMemory gradients, int blockBytes) {
        long begun = System.nanoTime();
        for (int i = 0; i < model.length; i++) {
            long at = (long) i * blockBytes;
            aggregator.aggregate(model[i], 0, gradients.slab(at), DataMemory.offsetInSlab(at), blockBytes, 1);
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
