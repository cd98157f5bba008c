package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.IserProvider;
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
 * @param portal connects to the target
 * @param reason why this datamover was chosen
 */
public record Route(InitiatorPortal portal, String reason) {
    /** The choice of the user. */
    public enum Preference {
        /** Shared memory if the target is on this host and offers it, else iSER if the target answers over it, else TCP. */
        AUTO,
        /** TCP. */
        TCP,
        /** Shared memory only. */
        SHM,
        /** iSER over an RDMA device only. */
        ISER;

        /**
         * The preference of this name, as {@code auto}.
         *
         * @throws IllegalArgumentException for another name; the message lists the names
         */
        public static Preference named(String name) {
            for (Preference preference : values()) {
                if (preference.toString().equals(name)) {
                    return preference;
                }
            }
            throw new IllegalArgumentException("datamover=" + name + " must be one of "
                + Arrays.stream(values()).map(Preference::toString).collect(Collectors.joining(", ")));
        }

        /** The name that users write. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Chooses. {@link Preference#AUTO} tries whether a server answers at the socket, and then over RDMA.
     *
     * @param address the target's TCP address
     * @param targetName its iSCSI name
     * @param socketDirectory the directory of the sockets, as {@link SocketPath#defaultDirectory()}
     * @param protectedByDigests whether digests are wanted, which only TCP has
     * @param iserConnections the iSER connections of this process
     */
    public static Route choose(
        Preference preference, InetSocketAddress address, String targetName, Path socketDirectory,
        boolean protectedByDigests,
        IserProvider.Connections iserConnections) {
        ShmInitiatorPortal shm = new ShmInitiatorPortal(SocketPath.of(socketDirectory, targetName, address.getPort()));
        InitiatorPortal iser = iserConnections.portal(address);
        TcpInitiatorPortal tcp = new TcpInitiatorPortal(address);
        if (preference == Preference.AUTO) {
            return protectedByDigests ? new Route(tcp, "digests protect what TCP carries") : automatic(shm, iser, tcp);
        }
        if (protectedByDigests && preference != Preference.TCP) {
            throw new IllegalArgumentException(
                "datamover=" + preference + " has no digests: use tcp, or --digest none");
        }
        InitiatorPortal asked = switch (preference) {
            case SHM -> shm;
            case ISER -> iser;
            default -> tcp;
        };
        return new Route(asked, "as asked for");
    }

    private static Route automatic(ShmInitiatorPortal shm, InitiatorPortal iser, TcpInitiatorPortal tcp) {
        String noShm = isThisHost(tcp.address().getAddress()) ? shm.obstacle() : "it is on another host";
        if (noShm == null) {
            return new Route(shm, "it is on this host and answers at " + shm.path());
        }
        String noIser = iser.obstacle();
        return noIser == null
            ? new Route(iser, "it answers over RDMA; no shared memory: " + noShm)
            : new Route(tcp, "no shared memory: " + noShm + "; no iSER: " + noIser);
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
