package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;

/** Sends and receives frames over a connected socket, and closes the socket. Thread-safe. */
final class FrameStream {
    private final UnixSocket socket;
    private final String peer;
    private final FrameReader reader;
    private final FrameWriter writer;

    /** Creates a stream over a connected socket. {@link #close} closes the socket. */
    FrameStream(UnixSocket socket, String peer, NanoClock clock) {
        this.socket = socket;
        this.peer = peer;
        this.writer = new FrameWriter(socket, peer, clock);
        this.reader = new FrameReader(socket, peer, writer, clock);
    }

    FrameReader reader() {
        return reader;
    }

    FrameWriter writer() {
        return writer;
    }

    /** Makes all calls fail, including calls in progress. The peer sees the end of the stream only after {@link #close}. */
    void stop() {
        reader.stop();
        writer.stop();
        socket.shutdown(UnixSocket.SHUT_RD);
    }

    /**
     * Stops sending, so the peer sees the end of the stream. Receiving continues until the peer closes the connection or
     * {@code withinNs} has passed.
     */
    void finish(long withinNs) {
        reader.stopBy(withinNs);
        writer.stop();
        socket.shutdown(UnixSocket.SHUT_WR);
    }

    /** The socket, which stays open between {@link UnixSocket#enter} and {@link UnixSocket#leave}, even after {@link #close}. */
    UnixSocket socket() {
        return socket;
    }

    /** Closes the socket as soon as no call is in progress. The peer then sees the end of the stream. */
    void close() {
        socket.close();
    }

    /** The peer's name, for messages. */
    String peer() {
        return peer;
    }
}
