package io.modeldisk.bench.baseline;

import io.modeldisk.bench.load.Direction;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The description of a load. The client of the baseline sends this description to the server before the data. The encoding has
 * 24 bytes.
 *
 * @param direction the direction of the data
 * @param pingPong whether each request waits for the response to the previous request
 * @param aggregates whether the server applies each received buffer to its weights with sgd
 * @param requestBytes the size of a request
 * @param requests the number of requests in each direction
 */
record BaselineRequest(
    Direction direction, boolean pingPong, boolean aggregates, int requestBytes, long requests) {
    /** The size of a request or response without data, which is equal to the size of an iSCSI header. */
    static final int SHORT_MESSAGE_BYTES = 48;

    private static final int BYTES = 24;
    private static final int MAX_REQUEST_BYTES = 1 << 30;

    void send(SocketChannel channel) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(BYTES);
        header.putInt(direction.ordinal()).putInt(pingPong ? 1 : 0).putInt(aggregates ? 1 : 0).putInt(requestBytes)
            .putLong(requests).flip();
        writeAll(channel, header);
    }

    /** Receives the description of the next load. Returns null if the client has closed the connection. */
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
                "the client sent an invalid request to the baseline server: direction " + direction + ", "
                    + requests + " requests of " + requestBytes + " bytes");
        }
        return new BaselineRequest(Direction.values()[direction], pingPong, aggregates, requestBytes, requests);
    }

    /** Writes all remaining bytes of the buffer to the channel. */
    static void writeAll(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    /** Reads from the channel until the buffer is full. */
    static void readAll(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("the peer closed the connection of the baseline before all data was received");
            }
        }
    }
}
