package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import java.io.DataInputStream;
import java.nio.ByteBuffer;

/** The methods of the gRPC services. All methods are unary. */
final class Methods {
    static final String SERVICE = "modeldisk.bench.Shard";
    /** The maximum size of a message. The largest request has 8 MiB of data. */
    static final int MAX_MESSAGE_BYTES = 16 << 20;

    /** Encodes the response to a push, which is the number of received bytes. */
    private static final Marshaller<Integer> COUNT = new Codec<>(
        count -> Codec.bytes(ByteBuffer.allocate(Integer.BYTES).putInt(count)),
        stream -> new DataInputStream(stream).readInt());

    private Methods() {}

    /** Returns the method that sends a gradient and receives the length of that gradient. */
    static <T> MethodDescriptor<T, Integer> push(Marshaller<T> gradient) {
        return method("Push", gradient, COUNT);
    }

    /** Returns the method that sends a range and receives the weights of that range. */
    static <T> MethodDescriptor<Range, T> pull(Marshaller<T> weights) {
        return method("Pull", Range.MARSHALLER, weights);
    }

    private static <Q, A> MethodDescriptor<Q, A> method(
        String name, Marshaller<Q> question, Marshaller<A> answer) {
        return MethodDescriptor.newBuilder(question, answer).setType(MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name)).build();
    }
}
