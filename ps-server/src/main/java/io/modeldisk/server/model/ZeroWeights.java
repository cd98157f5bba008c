package io.modeldisk.server.model;

import io.modeldisk.protocol.memory.DataMemory;
import java.util.List;

/** A model whose initial weights are zeros. */
record ZeroWeights(long sizeBytes) implements ModelSource {
    private static final long MAX_BYTES = 1L << 60;

    ZeroWeights {
        if (sizeBytes <= 0 || sizeBytes > MAX_BYTES || sizeBytes % Float.BYTES != 0) {
            throw new IllegalArgumentException(
                "size=" + sizeBytes + " must be a positive multiple of 4 bytes, at most 1 EiB");
        }
    }

    @Override
    public String source() {
        return "zeros";
    }

    @Override
    public List<Tensor> tensors() {
        return List.of(new Tensor("weights", TensorType.F32.name(), new long[]{sizeBytes / Float.BYTES}, 0, sizeBytes));
    }

    @Override
    public WeightsReader open() {
        return new WeightsReader() {
            @Override
            public void read(long modelOffset, DataMemory memory, long memoryOffset, int lengthBytes) {
                // The memory is already filled with zeros.
            }

            @Override
            public void close() {
                // No file is open.
            }
        };
    }
}
