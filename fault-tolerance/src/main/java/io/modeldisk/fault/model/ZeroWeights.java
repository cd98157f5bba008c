package io.modeldisk.fault.model;

import java.util.List;

/**
 * A model whose initial weights are zeros.
 *
 * @param tensors the tensors, in the order of their data
 * @param namesDigest the digest of the file that names the tensors; null if there is none
 */
record ZeroWeights(long sizeBytes, List<Tensor> tensors, String namesDigest) implements ModelSource {
    private static final long MAX_BYTES = 1L << 60;
    private static final String ZEROS = "zeros";

    ZeroWeights {
        if (sizeBytes <= 0 || sizeBytes > MAX_BYTES || sizeBytes % Float.BYTES != 0) {
            throw new IllegalArgumentException(
                "size=" + sizeBytes + " must be a positive multiple of 4 bytes, at most 1 EiB");
        }
    }

    /** Creates a model of one tensor with the name {@code weights}. */
    ZeroWeights(long sizeBytes) {
        this(sizeBytes, List.of(
            new Tensor("weights", TensorType.F32.name(), new long[]{sizeBytes / Float.BYTES}, 0, sizeBytes)), null);
    }

    @Override
    public String source() {
        return namesDigest == null ? ZEROS : ZEROS + "-sha256:" + namesDigest;
    }

    @Override
    public WeightsReader open() {
        // The memory is already filled with zeros.
        return (modelOffset, memory, memoryOffset, lengthBytes) -> {};
    }
}
