package io.modeldisk.server.model;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.file.Path;

/** A model's size and the weights it starts from. Immutable. */
public sealed interface ModelSource permits ZeroWeights, SafetensorsFile {
    /** The size of the whole model in bytes: positive, a multiple of 4. */
    long sizeBytes();

    /**
     * The identity of the weights at the start, the same text on every shard: {@code zeros}; {@code sha256:} and the digest of
     * the file; or {@code sampled-sha256:} and the digest of a large file's size, header and samples.
     */
    String source();

    /** Opens the weights for reading. */
    WeightsReader open() throws IOException;

    /**
     * A model of zeros.
     *
     * @throws IllegalArgumentException if the size is not a positive multiple of 4
     */
    static ModelSource ofSize(long sizeBytes) {
        return new ZeroWeights(sizeBytes);
    }

    /**
     * The tensors of a safetensors file, in the order of their data. Reads the header, and at most 64 MiB more for the identity.
     *
     * @throws IOException if it cannot be read, or is not a sound file of F32 tensors; the message names file, tensor and values
     */
    static ModelSource fromSafetensors(Path file) throws IOException {
        return SafetensorsFile.open(file);
    }

    /** Reads weights. For one thread. */
    interface WeightsReader extends AutoCloseable {
        /** Reads a range of the model, within its size, into zeroed memory. */
        void read(long modelOffset, DataMemory memory, long memoryOffset, int lengthBytes) throws IOException;

        @Override
        void close() throws IOException;
    }
}
