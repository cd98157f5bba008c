package io.modeldisk.bench.floor;

import io.modeldisk.bench.load.Direction;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * What the learner's end of the floor asks of the other: 24 bytes.
 *
 * @param direction which way data goes
 * @param pingPong whether each request waits for the answer to the one before
 * @param aggregates whether each buffer is folded into the weights, as sgd does it
 * @param requestBytes the size of a request
 * @param requests how many there are, each way
 */
record FloorRequest(
    Direction direction, boolean pingPong, boolean aggregates, int requestBytes, long requests) {
    /** As long as an iSCSI header: what stands for a request, or an answer, that has no data. */
    static final int SHORT_MESSAGE_BYTES = 48;

    private static final int BYTES = 24;
    private static final int MAX_REQUEST_BYTES = 1 << 30;

    void send(SocketChannel channel) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(BYTES);
        header.putInt(direction.ordinal()).putInt(pingPong ? 1 : 0).putInt(aggregates ? 1 : 0).putInt(requestBytes)
            .putLong(requests).flip();
        writeAll(channel, header);
    }

    /** The next request; null if the other end is gone. */
    static FloorRequest receive(SocketChannel channel) throws IOException {
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
            throw new IOException("this is no request of `modeldisk bench`");
        }
        return new FloorRequest(Direction.values()[direction], pingPong, aggregates, requestBytes, requests);
    }

    /** Writes what the buffer still holds. */
    static void writeAll(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    /** Fills what the buffer still has room for. */
    static void readAll(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("the other end of the floor has closed the connection");
            }
        }
    }
}
