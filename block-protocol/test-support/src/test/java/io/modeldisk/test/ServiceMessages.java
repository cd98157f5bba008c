package io.modeldisk.test;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Receives the messages that a process sends to its service manager (sd_notify(3)). */
public final class ServiceMessages implements AutoCloseable {
    private static final int MAX_BYTES = 4096;

    private final UnixSocket socket;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(MAX_BYTES);
    private final SocketMessage message;

    private ServiceMessages(UnixSocket socket) {
        this.socket = socket;
        this.message = new SocketMessage(socket, bytes);
    }

    /** Creates a socket with this name, which the process gets in its environment variable {@code NOTIFY_SOCKET}. */
    public static ServiceMessages at(String name) throws IOException {
        return new ServiceMessages(UnixSocket.receiveDatagrams(name));
    }

    /** Waits for the next message, and returns it. Fails if no message arrives within {@link Await#BOUND}. */
    public String next() throws IOException {
        message.awaitReadable((int) Await.BOUND.toMillis());
        int length = (int) Errno.check("no message for the service manager arrived", message.receive(0, MAX_BYTES));
        return StandardCharsets.UTF_8.decode(bytes.slice(0, length)).toString();
    }

    /** Waits for a message that contains this text, and returns it. Earlier messages are discarded. */
    public String awaitMessage(String text) throws IOException {
        String next = next();
        while (!next.contains(text)) {
            next = next();
        }
        return next;
    }

    @Override
    public void close() {
        socket.close();
    }
}
