package io.modeldisk.server;

import io.modeldisk.fault.model.ModelSource;
import io.modeldisk.fault.model.Tensor;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.consistency.NonFinite;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads the initial weights of a shard. */
final class InitialWeights {
    private InitialWeights() {}

    /**
     * Reads the weights of the blocks of this shard from the source of the model.
     *
     * @throws IOException if the weights cannot be read, or if a weight is NaN or infinite and the shard does not accept such
     *     values; the message names the tensor
     */
    static void load(ServerContext context, BlockStore store) throws IOException {
        ModelFacts facts = context.facts();
        BlockLayout layout = store.layout();
        try (ModelSource.WeightsReader reader = context.source.open()) {
            for (int i = 0; i < layout.blocks(); i++) {
                long modelOffset = ((long) i * facts.shards() + facts.shard()) * facts.blockSizeBytes();
                int lengthBytes = (int) Math.min(facts.blockSizeBytes(), facts.sizeBytes() - modelOffset);
                DataMemory memory = store.memory();
                reader.read(modelOffset, memory, layout.offsetOf(i), lengthBytes);
                if (context.nonFinite != NonFinite.PASS
                    && !ValueType.FLOAT32.areFinite(memory, layout.offsetOf(i), lengthBytes)) {
                    throw notFinite(context.source, modelOffset, memory.segment(layout.offsetOf(i), lengthBytes));
                }
            }
        }
    }

    private static IOException notFinite(ModelSource source, long modelOffset, MemorySegment block) {
        long at = 0;
        while (Float.isFinite(block.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at))) {
            at += Float.BYTES;
        }
        long offset = modelOffset + at;
        Tensor tensor = source.tensors().stream().filter(each -> each.begin() <= offset && offset < each.end())
            .findFirst().orElseThrow();
        return new IOException(source + ": tensor '" + tensor.name() + "' has the value "
            + block.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at) + " at index " + (offset - tensor.begin()) / Float.BYTES
            + ", which would spread to other weights; correct the file, or accept the value with --non-finite pass");
    }
}
