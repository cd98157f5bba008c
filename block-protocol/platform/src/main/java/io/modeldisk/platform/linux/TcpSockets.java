package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Returns and sets the congestion control of a TCP connection (tcp(7)), for which Java has no socket option. Java does not expose
 * the descriptor of a channel either, so this class searches the descriptors of this process for the socket that has both
 * addresses of the connection. Thread-safe.
 */
public final class TcpSockets {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;
    private static final int NAME_BYTES = 16;

    // The layout of struct sockaddr_in and struct sockaddr_in6.
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int ADDRESS_BYTES = 128;
    private static final int PORT_FIELD = 2;
    private static final int V4_FIELD = 4;
    private static final int V6_FIELD = 8;

    private TcpSockets() {}

    /**
     * Sets the congestion control of a connection.
     *
     * @param name a congestion control that this kernel supports, such as {@code reno}
     */
    public static void congestionControl(SocketChannel channel, String name) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Errno.check("cannot set TCP_CONGESTION=" + name, CLibrary.call("setsockopt", descriptorOf(channel, arena),
                IPPROTO_TCP, TCP_CONGESTION, arena.allocateFrom(name), name.length()));
        }
    }

    /** Returns the name of the congestion control of a connection. */
    public static String congestionControl(SocketChannel channel) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(NAME_BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_INT, NAME_BYTES);
            Errno.check("cannot read TCP_CONGESTION",
                CLibrary.call("getsockopt", descriptorOf(channel, arena), IPPROTO_TCP,
                    TCP_CONGESTION, name, length));
            return name.getString(0);
        }
    }

    private static int descriptorOf(SocketChannel channel, Arena arena) throws IOException {
        MemorySegment address = arena.allocate(ADDRESS_BYTES, Long.BYTES);
        MemorySegment length = arena.allocate(JAVA_INT);
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path path : descriptors) {
                int descriptor = Integer.parseInt(path.getFileName().toString());
                length.set(JAVA_INT, 0, ADDRESS_BYTES);
                if (CLibrary.call("getsockname", descriptor, address, length) == 0
                    && channel.getLocalAddress().equals(addressIn(address))) {
                    length.set(JAVA_INT, 0, ADDRESS_BYTES);
                    if (CLibrary.call("getpeername", descriptor, address, length) == 0
                        && channel.getRemoteAddress().equals(addressIn(address))) {
                        return descriptor;
                    }
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        throw new IOException("no descriptor in " + DESCRIPTORS + " belongs to the connection " + channel);
    }

    /** Returns the address in a sockaddr structure, or null if the structure has no IP address. */
    private static InetSocketAddress addressIn(MemorySegment address) throws UnknownHostException {
        int port = Short.toUnsignedInt(address.get(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), PORT_FIELD));
        return switch (address.get(JAVA_SHORT, 0)) {
            case AF_INET -> new InetSocketAddress(hostAt(address, V4_FIELD, 4), port);
            case AF_INET6 -> new InetSocketAddress(hostAt(address, V6_FIELD, 16), port);
            default -> null;
        };
    }

    private static InetAddress hostAt(MemorySegment address, int field, int bytes) throws UnknownHostException {
        // getByAddress converts an IPv4-mapped address of an IPv6 socket to IPv4, as the channel does.
        return InetAddress.getByAddress(address.asSlice(field, bytes).toArray(JAVA_BYTE));
    }
}
