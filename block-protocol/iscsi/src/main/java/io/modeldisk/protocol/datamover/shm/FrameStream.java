package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;

/** Frames in both directions over a connected socket, and its end. Thread-safe. */
final class FrameStream {
    private final UnixSocket socket;
    private final String peer;
    private final FrameReader reader;
    private final FrameWriter writer;

    /** Takes over a connected socket. */
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

    /** Ends every call in progress and every later one. The peer sees the end of the stream only with {@link #close}. */
    void stop() {
        reader.stop();
        writer.stop();
        socket.shutdown(UnixSocket.SHUT_RD);
    }

    /** Ends sending, which the peer sees. Receiving goes on until the peer ends it, or for this long. */
    void finish(long withinNs) {
        reader.stopBy(withinNs);
        writer.stop();
        socket.shutdown(UnixSocket.SHUT_WR);
    }

    /** Keeps the socket open until {@link #release}, even after {@link #close}; false if it is closed. */
    boolean hold() {
        return socket.enter();
    }

    /** Ends {@link #hold}. */
    void release() {
        socket.leave();
    }

    /** Closes the socket as soon as no call is in progress; the peer sees the end. */
    void close() {
        socket.close();
    }

    /** The other side, for messages. */
    String peer() {
        return peer;
    }
}
