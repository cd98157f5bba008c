package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.shm.ShmInitiatorPortal;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The datamover that an initiator uses for a target, and why.
 *
 * @param portal the way to the target
 * @param reason why this one, in words
 */
public record Route(InitiatorPortal portal, String reason) {
    /** What a user may ask for. */
    public enum Wish {
        /** Shared memory where the target is on this host and offers it, else TCP. */
        AUTO,
        /** TCP. */
        TCP,
        /** Shared memory, or nothing. */
        SHM;

        /**
         * The wish of this name, as {@code auto}.
         *
         * @throws IllegalArgumentException with the names there are
         */
        public static Wish named(String name) {
            for (Wish wish : values()) {
                if (wish.toString().equals(name)) {
                    return wish;
                }
            }
            throw new IllegalArgumentException("datamover=" + name + " must be one of "
                + Arrays.stream(values()).map(Wish::toString).collect(Collectors.joining(", ")));
        }

        /** The name that users write. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Chooses. With {@link Wish#AUTO} this looks whether a server answers at the socket.
     *
     * @param address the target's TCP address
     * @param targetName its iSCSI name
     * @param socketDirectory where sockets are, as {@link SocketPath#defaultDirectory()}
     * @param protectedByDigests whether digests are wanted, which TCP alone has
     */
    public static Route choose(
        Wish wish, InetSocketAddress address, String targetName, Path socketDirectory, boolean protectedByDigests) {
        ShmInitiatorPortal shm = new ShmInitiatorPortal(SocketPath.of(socketDirectory, targetName, address.getPort()));
        Route tcp = new Route(new TcpInitiatorPortal(address), "as asked for");
        return switch (wish) {
            case TCP -> tcp;
            case SHM -> {
                if (protectedByDigests) {
                    throw new IllegalArgumentException("datamover=shm moves nothing that digests could protect");
                }
                yield new Route(shm, "as asked for");
            }
            case AUTO -> {
                if (protectedByDigests) {
                    yield new Route(tcp.portal(), "digests protect what TCP carries");
                }
                if (!isThisHost(address.getAddress())) {
                    yield new Route(tcp.portal(), "it is on another host");
                }
                String obstacle = shm.obstacle();
                yield obstacle == null
                    ? new Route(shm, "it is on this host and answers at " + shm.path())
                    : new Route(tcp.portal(), "it is on this host, but offers no shared memory: " + obstacle);
            }
        };
    }

    private static boolean isThisHost(InetAddress address) {
        try {
            return address != null
                && (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null);
        } catch (IOException e) {
            return false;
        }
    }

    /** The datamover and the reason, as {@code shm (it is on this host ...)}. */
    @Override
    public String toString() {
        return portal.datamover() + " (" + reason + ")";
    }
}
