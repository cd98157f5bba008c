package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * The request of a pull, encoded in 12 bytes.
 *
 * @param offset the offset of the range in the weights
 * @param length the number of bytes
 */
record Range(long offset, int length) {
    private static final int BYTES = Long.BYTES + Integer.BYTES;

    static final Marshaller<Range> MARSHALLER = new Marshaller<>() {
        @Override
        public InputStream stream(Range value) {
            return new ByteArrayInputStream(
                ByteBuffer.allocate(BYTES).putLong(value.offset).putInt(value.length).array());
        }

        @Override
        public Range parse(InputStream stream) {
            try {
                DataInputStream data = new DataInputStream(stream);
                return new Range(data.readLong(), data.readInt());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };
}
