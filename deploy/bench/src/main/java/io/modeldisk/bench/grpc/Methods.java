package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The methods of the service. All are unary. */
final class Methods {
    static final String SERVICE = "modeldisk.bench.Shard";
    static final String NODE_SERVICE = "modeldisk.bench.Node";
    /** 8 MiB and the overhead of a message. */
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

    /** The answer to a push: the number of received bytes. */
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

    /** Sends a gradient, returns its length. */
    static <T> MethodDescriptor<T, Integer> push(Marshaller<T> gradient) {
        return method(SERVICE, "Push", gradient, COUNT);
    }

    /** Sends a range, returns its weights. */
    static <T> MethodDescriptor<Range, T> pull(Marshaller<T> weights) {
        return method(SERVICE, "Pull", Range.MARSHALLER, weights);
    }

    /** Sends a control message to a node of a mesh, returns its answer. */
    static MethodDescriptor<String, String> node(String name) {
        return method(NODE_SERVICE, name, TEXT, TEXT);
    }

    private static <Q, A> MethodDescriptor<Q, A> method(
        String service, String name, Marshaller<Q> question, Marshaller<A> answer) {
        return MethodDescriptor.newBuilder(question, answer).setType(MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(service, name)).build();
    }
}
