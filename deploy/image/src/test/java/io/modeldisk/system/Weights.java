package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the weights of mounted models. */
final class Weights {
    private Weights() {}

    /** Returns the float32 values in the file {@code weights} of a mount. */
    static FloatBuffer in(Path directory) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(directory.resolve("weights"))).order(ByteOrder.LITTLE_ENDIAN)
            .asFloatBuffer();
    }

    /** Fails if the model of a mount has another size, or if a weight has another value. */
    static void assertAll(Path directory, int sizeBytes, float expected) throws IOException {
        FloatBuffer weights = in(directory);
        assertThat(weights.capacity() * Float.BYTES).as("the size of the model").isEqualTo(sizeBytes);
        for (int i = 0; i < weights.capacity(); i++) {
            if (weights.get(i) != expected) {
                throw new AssertionError("weight " + i + " is " + weights.get(i) + ", but must be " + expected);
            }
        }
    }
}
