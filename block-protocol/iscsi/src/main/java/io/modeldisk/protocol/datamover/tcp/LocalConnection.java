package io.modeldisk.protocol.datamover.tcp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Connections whose both ends are on this machine. There is no network between them that could be congested, but where the
 * system paces what it sends (BBR does, by a timer) their ends wait for that timer all the same, and move half of what they
 * could. Such a connection gets a congestion control without pacing; every other keeps the system's.
 *
 * <p>Thread-safe.
 */
final class LocalConnection {
    /** The one that every Linux has and lets everybody choose (RFC 5681). */
    private static final String UNPACED = "reno";

    private static final Logger LOG = LogManager.getLogger(LocalConnection.class);
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int ADDRESS_BYTES = 128;
    private static final int NAME_BYTES = 16;
    private static final int PORT_FIELD = 2;
    private static final int V4_FIELD = 4;
    private static final int V6_FIELD = 8;
    private static final ByteOrder NETWORK_ORDER = ByteOrder.BIG_ENDIAN;

    private static final FunctionDescriptor NAME_CALL = FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle GETSOCKNAME = handle("getsockname", NAME_CALL);
    private static final MethodHandle GETPEERNAME = handle("getpeername", NAME_CALL);
    private static final MethodHandle SETSOCKOPT = handle("setsockopt",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKOPT = handle("getsockopt",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));

    private LocalConnection() {}

    /** Turns pacing off if both ends are on this machine. That it cannot be turned off costs speed alone, and is logged. */
    static void turnOffPacing(SocketChannel channel) throws IOException {
        InetSocketAddress near = (InetSocketAddress) channel.getLocalAddress();
        InetSocketAddress far = (InetSocketAddress) channel.getRemoteAddress();
        if (!isLocal(near, far)) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            int fd = descriptor(near, far);
            int result = (int) SETSOCKOPT.invokeExact(fd, IPPROTO_TCP, TCP_CONGESTION, arena.allocateFrom(UNPACED),
                UNPACED.length());
            LOG.debug("the connection of {} with {}: congestion control {} {}", near, far, UNPACED,
                result == 0 ? "set" : "refused");
        } catch (IOException | DirectoryIteratorException e) {
            LOG.debug("the connection of {} with {} keeps its congestion control: {}", near, far, e.toString());
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static boolean isLocal(InetSocketAddress near, InetSocketAddress far) {
        return far.getAddress().isLoopbackAddress() || far.getAddress().equals(near.getAddress());
    }

    /** The name of a connection's congestion control. */
    static String congestionControl(SocketChannel channel) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(NAME_BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_INT, NAME_BYTES);
            int fd = descriptor((InetSocketAddress) channel.getLocalAddress(),
                (InetSocketAddress) channel.getRemoteAddress());
            int result = (int) GETSOCKOPT.invokeExact(fd, IPPROTO_TCP, TCP_CONGESTION, name, length);
            return result == 0 ? name.getString(0) : "unknown";
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static IllegalStateException unexpected(Throwable e) {
        return new IllegalStateException("a system call could not be made", e);
    }

    /** Java tells no socket's descriptor: the one whose ends are these. */
    private static int descriptor(InetSocketAddress near, InetSocketAddress far) throws Throwable {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS);
            Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS_BYTES);
            MemorySegment length = arena.allocate(JAVA_INT);
            for (Path descriptor : descriptors) {
                int fd = Integer.parseInt(descriptor.getFileName().toString());
                if (near.equals(endOf(GETSOCKNAME, fd, address, length))
                    && far.equals(endOf(GETPEERNAME, fd, address, length))) {
                    return fd;
                }
            }
        }
        throw new IOException("no descriptor below " + DESCRIPTORS + " is this connection's");
    }

    /** One end of the socket with this descriptor; null if it is no socket of the Internet's. */
    private static InetSocketAddress endOf(MethodHandle call, int fd, MemorySegment address, MemorySegment length)
        throws Throwable {
        length.set(JAVA_INT, 0, ADDRESS_BYTES);
        if ((int) call.invokeExact(fd, address, length) != 0) {
            return null;
        }
        int port = Short.toUnsignedInt(address.get(JAVA_SHORT.withOrder(NETWORK_ORDER), PORT_FIELD));
        return switch (address.get(JAVA_SHORT, 0)) {
            case AF_INET -> new InetSocketAddress(hostAt(address, V4_FIELD, 4), port);
            case AF_INET6 -> new InetSocketAddress(hostAt(address, V6_FIELD, 16), port);
            default -> null;
        };
    }

    private static InetAddress hostAt(MemorySegment address, int field, int bytes) throws UnknownHostException {
        // An IPv4 address in an IPv6 socket becomes one of IPv4 here, as it is for the channel.
        return InetAddress.getByAddress(address.asSlice(field, bytes).toArray(JAVA_BYTE));
    }

    // The signatures above are those of the C library.
    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }
}
