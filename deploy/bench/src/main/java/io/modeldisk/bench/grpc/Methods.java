package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The methods of the gRPC services. All methods are unary. */
final class Methods {
    static final String SERVICE = "modeldisk.bench.Shard";
    static final String NODE_SERVICE = "modeldisk.bench.Node";
    /** The maximum size of a message. The largest request has 8 MiB of data. */
    static final int MAX_MESSAGE_BYTES = 16 << 20;

    private static final Marshaller<String> TEXT = new Marshaller<>() {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    /** Encodes the response to a push, which is the number of received bytes. */
    private static final Marshaller<Integer> COUNT = new Marshaller<>() {
        @Override
        public InputStream stream(Integer value) {
            return TEXT.stream(value.toString());
        }

        @Override
        public Integer parse(InputStream stream) {
            return Integer.valueOf(TEXT.parse(stream));
        }
    };

    private Methods() {}

    /** Returns the method that sends a gradient and receives the length of that gradient. */
    static <T> MethodDescriptor<T, Integer> push(Marshaller<T> gradient) {
        return method(SERVICE, "Push", gradient, COUNT);
    }

    /** Returns the method that sends a range and receives the weights of that range. */
    static <T> MethodDescriptor<Range, T> pull(Marshaller<T> weights) {
        return method(SERVICE, "Pull", Range.MARSHALLER, weights);
    }

    /** Returns the method that sends a control message to a node of a mesh and receives a response. */
    static MethodDescriptor<String, String> node(String name) {
        return method(NODE_SERVICE, name, TEXT, TEXT);
    }

    private static <Q, A> MethodDescriptor<Q, A> method(
        String service, String name, Marshaller<Q> question, Marshaller<A> answer) {
        return MethodDescriptor.newBuilder(question, answer).setType(MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(service, name)).build();
    }
}
