package io.modeldisk.platform.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
final class UnixSocketTest {
    private static final int MORE_THAN_THE_BACKLOG = 140;

    @TempDir
    private Path directory;

    @Test
    void connectToAMissingPathFailsAtOnce() {
        assertThatThrownBy(() -> UnixSocket.connect(directory.resolve("none"), 30_000))
            .isInstanceOf(NoListenerException.class).hasMessageContaining("No such file");
    }

    @Test
    void connectToAClosedListenerFailsAtOnce() throws IOException {
        Path path = directory.resolve("closed");
        UnixSocket.listen(path).close();
        assertThatThrownBy(() -> UnixSocket.connect(path, 30_000)).isInstanceOf(NoListenerException.class);
    }

    @Test
    void errorOfATooLongSocketPathNamesTheLimit() {
        assertThatThrownBy(() -> UnixSocket.listen(directory.resolve("x".repeat(108)))).isInstanceOf(IOException.class)
            .hasMessageContaining("the limit is 107");
    }

    @Test
    void connectWaitsForAFreeSlotInTheListenersQueue() throws Exception {
        Path path = directory.resolve("full");
        List<UnixSocket> sockets = new ArrayList<>();
        try (UnixSocket listener = UnixSocket.listen(path)) {
            assertThatThrownBy(() -> {
                for (int i = 0; i < MORE_THAN_THE_BACKLOG; i++) {
                    sockets.add(UnixSocket.connect(path, 20));
                }
            }).isInstanceOf(IOException.class).hasMessageContaining("accepted no connection within 20 ms");
            CompletableFuture<UnixSocket> waiting = CompletableFuture.supplyAsync(() -> {
                try {
                    return UnixSocket.connect(path, 20_000);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            // Each connection that is established but not accepted occupies one slot of the queue. Each accept frees one slot.
            sockets.add(listener.accept(10_000));
            sockets.add(listener.accept(10_000));
            sockets.add(waiting.get(20, TimeUnit.SECONDS));
        } finally {
            sockets.forEach(UnixSocket::close);
        }
    }

    @Test
    void peerReturnsTheProcessAndUserOfTheConnectedSocket() throws IOException {
        UnixSocket[] pair = UnixSocket.pair();
        try (UnixSocket near = pair[0]; UnixSocket _ = pair[1]) {
            assertThat(near.peer()).isEqualTo(
                new UnixSocket.Peer((int) ProcessHandle.current().pid(), Processes.effectiveUserId()));
        }
    }

    @Test
    void sentDescriptorArrivesWithTheFirstByteAsANewDescriptor() throws IOException {
        UnixSocket[] pair = UnixSocket.pair();
        try (UnixSocket near = pair[0]; UnixSocket far = pair[1]) {
            SocketMessage out = new SocketMessage(near, ByteBuffer.allocateDirect(8).put(0, (byte) 42));
            ByteBuffer received = ByteBuffer.allocateDirect(8);
            SocketMessage in = new SocketMessage(far, received);
            assertThat(out.send(0, 1, near.descriptor())).isEqualTo(1);
            in.awaitReadable(10_000);
            assertThat(in.receive(2, 8)).isEqualTo(1);
            assertThat(received.get(2)).isEqualTo((byte) 42);
            assertThat(in.descriptorCount()).isEqualTo(1);
            assertThat(in.descriptorsLost()).isFalse();
            assertThat(in.descriptor(0)).isNotEqualTo(near.descriptor());
            assertThat(Descriptors.close(in.descriptor(0))).isZero();
            assertThat(out.send(0, 1, -1)).isEqualTo(1);
            assertThat(in.receive(0, 8)).isEqualTo(1);
            assertThat(in.descriptorCount()).isZero();
            assertThat(Errno.EAGAIN.is(in.receive(0, 8))).isTrue();
        }
    }

    @Test
    void descriptorIsClosedOnlyAfterItsLastUse() throws IOException {
        UnixSocket[] pair = UnixSocket.pair();
        UnixSocket far = pair[1];
        try (UnixSocket near = pair[0]) {
            assertThat(far.enter()).isTrue();
            far.close();
            SocketMessage out = new SocketMessage(near, ByteBuffer.allocateDirect(1));
            assertThat(out.send(0, 1, -1)).isEqualTo(1);
            far.leave();
            assertThat(Errno.EPIPE.is(out.send(0, 1, -1))).isTrue();
            assertThat(far.enter()).isFalse();
            assertThatThrownBy(() -> far.accept(1)).isInstanceOf(ClosedChannelException.class);
        }
    }
}
