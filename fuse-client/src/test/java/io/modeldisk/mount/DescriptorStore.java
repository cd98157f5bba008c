package io.modeldisk.mount;

import io.modeldisk.platform.linux.ServiceManager;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.test.Await;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A service manager for tests, which only keeps descriptors. */
final class DescriptorStore implements AutoCloseable {
    private final UnixSocket socket;
    private final String name = "@modeldisk-test-" + UUID.randomUUID();
    private final Map<String, Integer> kept = new ConcurrentHashMap<>();
    private volatile boolean closed;

    DescriptorStore() throws IOException {
        socket = UnixSocket.receiveDatagrams(name);
        Thread.ofPlatform().name("descriptor-store").daemon().start(this::receive);
    }

    ServiceManager manager() {
        return new ServiceManager(name, Duration.ZERO);
    }

    /** Waits until this number of descriptors is kept. Returns the descriptors by their names. */
    Map<String, Integer> await(int count) {
        Await.await("the service manager keeps " + count + " descriptors: " + kept, () -> kept.size() == count);
        return Map.copyOf(kept);
    }

    private void receive() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(4096);
        SocketMessage message = new SocketMessage(socket, bytes);
        try {
            while (!closed) {
                message.awaitReadable(100);
                long length = message.receive(0, bytes.capacity());
                if (length > 0) {
                    String text = StandardCharsets.UTF_8.decode(bytes.duplicate().position(0).limit((int) length))
                        .toString();
                    String descriptor = text.replaceFirst("(?s).*FDNAME=", "");
                    if (text.startsWith("FDSTORE=1")) {
                        kept.put(descriptor, message.descriptor(0));
                    } else {
                        kept.remove(descriptor);
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        closed = true;
        socket.close();
    }
}
