package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import java.io.DataInputStream;
import java.nio.ByteBuffer;

/**
 * The request of a pull, encoded in 12 bytes.
 *
 * @param offset the offset of the range in the weights
 * @param length the number of bytes
 */
record Range(long offset, int length) {
    private static final int BYTES = Long.BYTES + Integer.BYTES;

    static final Marshaller<Range> MARSHALLER = new Codec<>(
        range -> Codec.bytes(ByteBuffer.allocate(BYTES).putLong(range.offset).putInt(range.length)),
        stream -> {
            DataInputStream data = new DataInputStream(stream);
            return new Range(data.readLong(), data.readInt());
        });
}
