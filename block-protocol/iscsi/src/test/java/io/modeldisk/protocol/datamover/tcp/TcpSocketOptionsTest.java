package io.modeldisk.protocol.datamover.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.modeldisk.platform.linux.TcpSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TcpSocketOptionsTest {
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void localConnectionUsesRenoAtBothEnds(String host) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            bind(listener, host);
            try (SocketChannel near = SocketChannel.open(listener.getLocalAddress());
                SocketChannel far = listener.accept()) {
                TcpSocketOptions.apply(near);
                TcpSocketOptions.apply(far);

                assertThat(TcpSockets.congestionControl(near)).isEqualTo("reno");
                assertThat(TcpSockets.congestionControl(far)).isEqualTo("reno");
            }
        }
    }

    private static void bind(ServerSocketChannel listener, String host) throws IOException {
        try {
            listener.bind(new InetSocketAddress(InetAddress.getByName(host), 0));
        } catch (SocketException | UnsupportedAddressTypeException e) {
            assumeThat(host).as("this machine has no IPv6").doesNotContain(":");
            throw e;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1, true",
        "127.0.0.1, 127.0.0.2, true",
        "::1,       ::1,       true",
        "192.0.2.1, 192.0.2.1, true",
        "192.0.2.1, 192.0.2.2, false",
        "2001:db8::1, 2001:db8::2, false",
    })
    void connectionIsLocalIfBothEndsAreOnThisMachine(String near, String far, boolean local)
        throws UnknownHostException {
        assertThat(TcpSocketOptions.isLocal(address(near), address(far))).isEqualTo(local);
    }

    private static InetSocketAddress address(String host) throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), 3260);
    }
}
