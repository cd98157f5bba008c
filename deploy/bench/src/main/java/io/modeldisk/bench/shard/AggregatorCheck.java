package io.modeldisk.bench.shard;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Checks that a push to a shard results in the weights that the aggregator computes in this process. */
final class AggregatorCheck {
    private static final float GRADIENT = 0.5f;

    private AggregatorCheck() {}

    /**
     * Pushes a gradient to the first block of a model with the weights of {@link Pattern}, and checks the resulting weights. Then
     * restores the weights.
     *
     * @return whether a gradient of zeros does not change the weights
     * @throws IOException if the weights differ from those that the aggregator computes in this process
     */
    static boolean run(RemoteModel model) throws IOException {
        ModelFacts facts = model.facts();
        int bytes = (int) Math.min(facts.blockSizeBytes(), facts.bytesOfShard());
        try (
            Aggregator aggregator = Aggregators.parse(facts.aggregator());
            DataMemory expected = DataMemory.allocate(bytes);
            DataMemory gradient = DataMemory.allocate(bytes);
            DataMemory pulled = DataMemory.allocate(bytes);
            DataMemory state = DataMemory
                .allocate(Math.max(1, LogicalBlock.in(bytes) * aggregator.stateBytesPerLogicalBlock()))) {
            Pattern.fill(expected, 0, 0, bytes);
            Block block = new Block(expected.slab(0), state.slab(0), 1);
            aggregator.aggregate(block, 0, gradient.slab(0), 0, bytes, 1);
            boolean zerosChangeNothing = isPattern(expected, bytes);

            Pattern.fill(expected, 0, 0, bytes);
            state.slab(0).fill((byte) 0);
            for (long at = 0; at < bytes; at += Float.BYTES) {
                gradient.slab(0).set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, GRADIENT);
            }
            aggregator.aggregate(block, 0, gradient.slab(0), 0, bytes, 1);
            model.push(0, gradient, 0, bytes, Cancellation.NONE);
            model.pull(0, pulled, 0, bytes, Cancellation.NONE);
            long different = expected.slab(0).mismatch(pulled.slab(0));
            if (different >= 0) {
                throw new IOException("a push to the shard with aggregator " + facts.aggregator()
                    + " resulted in a wrong weight at byte " + different);
            }
            Pattern.fill(expected, 0, 0, bytes);
            model.write(0, expected, 0, bytes, Cancellation.NONE);
            return zerosChangeNothing;
        }
    }

    private static boolean isPattern(DataMemory memory, int bytes) {
        try {
            Pattern.check(memory, 0, 0, bytes);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private record Block(MemorySegment weights, MemorySegment state, long round) implements BlockMemory {}
}
