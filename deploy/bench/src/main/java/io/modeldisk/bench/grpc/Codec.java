package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.function.Function;

/**
 * Encodes and decodes the messages of one type.
 *
 * @param encoder returns the bytes of a message
 * @param decoder reads a message
 */
record Codec<T>(Function<T, InputStream> encoder, Decoder<T> decoder) implements Marshaller<T> {
    /** Reads a message. */
    @FunctionalInterface
    interface Decoder<T> {
        T decode(InputStream stream) throws IOException;
    }

    /** Returns the bytes of a buffer on the heap. */
    static InputStream bytes(ByteBuffer buffer) {
        return new ByteArrayInputStream(buffer.array());
    }

    @Override
    public InputStream stream(T value) {
        return encoder.apply(value);
    }

    @Override
    public T parse(InputStream stream) {
        try {
            return decoder.decode(stream);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
