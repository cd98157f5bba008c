package io.modeldisk.bench.baseline;

import io.modeldisk.bench.load.Direction;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A request of the baseline's client to its server: 24 bytes.
 *
 * @param direction the direction of the data
 * @param pingPong whether each request waits for the answer to the one before
 * @param aggregates whether the server folds each buffer into its weights, like sgd
 * @param requestBytes the size of a request
 * @param requests the number of requests, each direction
 */
record BaselineRequest(
    Direction direction, boolean pingPong, boolean aggregates, int requestBytes, long requests) {
    /** The size of a request or answer without data: that of an iSCSI header. */
    static final int SHORT_MESSAGE_BYTES = 48;

    private static final int BYTES = 24;
    private static final int MAX_REQUEST_BYTES = 1 << 30;

    void send(SocketChannel channel) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(BYTES);
        header.putInt(direction.ordinal()).putInt(pingPong ? 1 : 0).putInt(aggregates ? 1 : 0).putInt(requestBytes)
            .putLong(requests).flip();
        writeAll(channel, header);
    }

    /** The next request; null if the client has closed the connection. */
    static BaselineRequest receive(SocketChannel channel) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(BYTES);
        if (channel.read(header) < 0) {
            return null;
        }
        readAll(channel, header);
        header.flip();
        int direction = header.getInt();
        boolean pingPong = header.getInt() != 0;
        boolean aggregates = header.getInt() != 0;
        int requestBytes = header.getInt();
        long requests = header.getLong();
        if (direction < 0 || direction >= Direction.values().length || requestBytes < 1
            || requestBytes > MAX_REQUEST_BYTES || requests < 1) {
            throw new IOException(
                "not a request of `modeldisk bench`: direction " + direction + ", " + requests + " requests of "
                    + requestBytes + " bytes");
        }
        return new BaselineRequest(Direction.values()[direction], pingPong, aggregates, requestBytes, requests);
    }

    /** Writes the rest of the buffer. */
    static void writeAll(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    /** Fills the rest of the buffer. */
    static void readAll(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("the baseline's other end closed the connection");
            }
        }
    }
}
