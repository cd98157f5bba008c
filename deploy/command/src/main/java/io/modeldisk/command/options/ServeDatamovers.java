package io.modeldisk.command.options;

import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.engine.TargetContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The option that chooses the datamovers of a shard. */
public final class ServeDatamovers {
    @Option(names = "--datamover", paramLabel = "NAME", split = ",",
        description = "One or more of tcp, iser and shm. iser: RDMA, on the same address and port number as tcp. shm: shared "
            + "memory, for mounts on this host that run as root or as the shard's user. Default: tcp, and on a loopback address "
            + "also shm if it is possible.")
    private List<String> datamovers = List.of();

    @Mixin
    private SocketDirectory sockets;

    /** The directory of the sockets for shared memory. */
    public Path socketDirectory() {
        return sockets.directory();
    }

    /** The names of the datamovers of a shard that listens on this address. */
    public List<String> names(InetSocketAddress listen) {
        if (isChosen()) {
            return datamovers.stream().distinct().toList();
        }
        InetAddress host = listen.getAddress();
        return host != null && host.isLoopbackAddress()
            ? List.of(TcpPortal.NAME, ShmPortal.NAME)
            : List.of(TcpPortal.NAME);
    }

    private boolean isChosen() {
        return !datamovers.isEmpty();
    }

    /** Sets the datamovers of a server. */
    public void apply(TargetContext context) {
        List<TargetPortal.Opener> openers = new ArrayList<>();
        for (String name : names(context.listen())) {
            switch (name) {
                // TCP comes first. If TCP chooses a free port, the other datamovers use the same port number.
                case TcpPortal.NAME -> openers.addFirst(new TcpPortal.Opener());
                case IserProvider.NAME -> openers.add(IserProvider.find().opener());
                case ShmPortal.NAME -> openers.add(isChosen() ? shm() : new ShmIfPossible(shm()));
                default -> throw new IllegalArgumentException("datamover='" + name
                    + "' is unknown; --datamover must be one or more of tcp, iser and shm, separated by commas");
            }
        }
        context.datamovers(openers);
    }

    private ShmPortal.Opener shm() {
        return new ShmPortal.Opener(sockets.directory(), new MappingLimits());
    }

    /** Offers shared memory, unless this machine or the directory of the sockets does not allow it. */
    private record ShmIfPossible(ShmPortal.Opener shm) implements TargetPortal.Opener {
        @Override
        public TargetPortal open(InetSocketAddress address, String targetName) {
            try {
                return shm.open(address, targetName);
            } catch (IOException e) {
                // The user did not ask for shared memory, so the reason is not a warning.
                LogManager.getLogger(ServeDatamovers.class).info("shared memory is not offered: {}", e.getMessage());
                return null;
            }
        }

        @Override
        public String toString() {
            return shm + " if possible";
        }
    }
}
