package io.modeldisk.bench.grpc;

import io.grpc.Drainable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import io.modeldisk.bench.grpc.Methods.Codec;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * A message that consists of bytes without an encoding. To send a message, gRPC copies the bytes once into its frames, which is
 * unavoidable. Received bytes are read directly from the buffers of gRPC if possible.
 *
 * @param bytes the memory of the message, which must not change until the message is sent
 * @param offset the start of the message
 * @param length the length of the message
 */
record Payload(byte[] bytes, int offset, int length) {
    private static final int CHUNK_BYTES = 64 << 10;

    /** Encodes payloads that are sent. Cannot decode a payload. */
    static final Marshaller<Payload> SENDING = new Codec<>(Outgoing::new, _ -> {
        throw new IllegalStateException("this marshaller sends payloads and cannot receive one");
    });

    /** Returns a marshaller that passes the received bytes to a sink. The decoded value is the length of the payload. */
    static Marshaller<Integer> receiving(Consumer<ByteBuffer> sink) {
        return new Codec<>(_ -> {
            throw new IllegalStateException("this marshaller receives payloads and cannot send one");
        }, stream -> drain(stream, sink));
    }

    /** Reads a message. The bytes are copied only if some of gRPC's buffers for this message are not byte buffers. */
    private static int drain(InputStream stream, Consumer<ByteBuffer> sink) throws IOException {
        return stream instanceof HasByteBuffer whole && whole.byteBufferSupported()
            ? drainInPlace(stream, whole, sink)
            : drainCopied(stream, sink);
    }

    private static int drainInPlace(InputStream stream, HasByteBuffer buffers, Consumer<ByteBuffer> sink)
        throws IOException {
        int total = 0;
        while (stream.available() > 0) {
            ByteBuffer piece = buffers.getByteBuffer();
            int length = piece.remaining();
            sink.accept(piece);
            if (stream.skip(length) != length) {
                throw new EOFException("a gRPC message is truncated: it ended within one of its buffers");
            }
            total += length;
        }
        return total;
    }

    private static int drainCopied(InputStream stream, Consumer<ByteBuffer> sink) throws IOException {
        byte[] chunk = new byte[CHUNK_BYTES];
        int total = 0;
        for (int length = stream.read(chunk); length >= 0; length = stream.read(chunk)) {
            sink.accept(ByteBuffer.wrap(chunk, 0, length));
            total += length;
        }
        return total;
    }

    /** An outgoing message, which gRPC copies to its frames. */
    private static final class Outgoing extends ByteArrayInputStream implements Drainable, KnownLength {
        Outgoing(Payload payload) {
            super(payload.bytes, payload.offset, payload.length);
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            int left = available();
            target.write(buf, pos, left);
            pos = count;
            return left;
        }
    }
}
