package io.modeldisk.fault.model;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The size and the initial weights of a model. Immutable. */
public sealed interface ModelSource permits ZeroWeights, SafetensorsFile {
    /** The size of the whole model in bytes, a positive multiple of 4. */
    long sizeBytes();

    /**
     * The identity of the initial weights, which is the same on every shard. For a model of zeros, the identity is {@code zeros},
     * with {@code -sha256:} and the digest of the file that names the tensors, if there is one. For a small file, the identity is
     * {@code sha256:} and the digest of the file. For a large file, the identity is {@code sampled-sha256:} and the digest of its
     * size, header and samples.
     */
    String source();

    /** The tensors of the model, in data order, as float32. A model of zeros without names has one tensor, {@code weights}. */
    List<Tensor> tensors();

    /** The entries of {@code __metadata__} of the file with the initial weights; empty if there is no such file. */
    default Map<String, String> metadata() {
        return Map.of();
    }

    /** Opens the weights for reading. */
    WeightsReader open() throws IOException;

    /**
     * Returns a model whose initial weights are zeros.
     *
     * @throws IllegalArgumentException if the size is not a positive multiple of 4
     */
    static ModelSource ofSize(long sizeBytes) {
        return new ZeroWeights(sizeBytes);
    }

    /**
     * Returns a model of zeros with the tensors that a JSON file names.
     *
     * @param sizeBytes the size of the model; null if the tensors determine it
     * @throws IOException if the file cannot be read, or does not describe the whole model; the message names the file, the
     *     tensor and the wrong values
     * @throws IllegalArgumentException if the size is not a positive multiple of 4
     */
    static ModelSource named(Path file, Long sizeBytes) throws IOException {
        return TensorNames.read(file, sizeBytes);
    }

    /**
     * Returns a model with the tensors of a safetensors file, in the order of their data. Tensors of the types BF16 and F16 are
     * converted to float32. Reads the header, and at most 64 MiB more for the identity.
     *
     * @throws IOException if the file cannot be read, or is not a valid file of F32, BF16 and F16 tensors; the message names the
     *     file, the tensor and the wrong values
     */
    static ModelSource fromSafetensors(Path file) throws IOException {
        return SafetensorsFile.open(file);
    }

    /** Reads weights. Not thread-safe. */
    @FunctionalInterface
    interface WeightsReader extends AutoCloseable {
        /** Reads a range of the model into memory. The range must lie in the model. The memory must contain only zeros. */
        void read(long modelOffset, DataMemory memory, long memoryOffset, int lengthBytes) throws IOException;

        @Override
        default void close() throws IOException {}
    }
}
