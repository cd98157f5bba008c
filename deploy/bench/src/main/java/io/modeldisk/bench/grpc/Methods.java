package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.function.Function;

/** The methods of the gRPC services, with the encodings of their messages. All methods are unary. */
final class Methods {
    static final String SERVICE = "modeldisk.bench.Shard";
    /** The maximum size of a message. The largest request has 8 MiB of data. */
    static final int MAX_MESSAGE_BYTES = 16 << 20;

    /** Encodes the response to a push, which is the number of received bytes. */
    private static final Marshaller<Integer> COUNT = new Codec<>(
        count -> new ByteArrayInputStream(ByteBuffer.allocate(Integer.BYTES).putInt(count).array()),
        stream -> new DataInputStream(stream).readInt());

    private static final Marshaller<Range> RANGE = new Codec<>(
        range -> new ByteArrayInputStream(ByteBuffer.allocate(Long.BYTES + Integer.BYTES).putLong(range.offset)
            .putInt(range.length).array()),
        stream -> {
            DataInputStream data = new DataInputStream(stream);
            return new Range(data.readLong(), data.readInt());
        });

    private Methods() {}

    /**
     * The request of a pull.
     *
     * @param offset the offset of the range in the weights
     * @param length the number of bytes
     */
    record Range(long offset, int length) {}

    /** Reads a message. */
    @FunctionalInterface
    interface Decoder<T> {
        T decode(InputStream stream) throws IOException;
    }

    /**
     * Encodes and decodes the messages of one type.
     *
     * @param encoder returns the bytes of a message
     */
    record Codec<T>(Function<T, InputStream> encoder, Decoder<T> decoder) implements Marshaller<T> {
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

    /** Returns the method that sends a gradient and receives the length of that gradient. */
    static <T> MethodDescriptor<T, Integer> push(Marshaller<T> gradient) {
        return method("Push", gradient, COUNT);
    }

    /** Returns the method that sends a range and receives the weights of that range. */
    static <T> MethodDescriptor<Range, T> pull(Marshaller<T> weights) {
        return method("Pull", RANGE, weights);
    }

    private static <Q, A> MethodDescriptor<Q, A> method(
        String name, Marshaller<Q> question, Marshaller<A> answer) {
        return MethodDescriptor.newBuilder(question, answer).setType(MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name)).build();
    }
}
