package io.modeldisk.command.options;

import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.engine.TargetContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The option that chooses the datamovers of a shard. */
public final class ServeDatamovers {
    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp",
        description = "One or more of tcp, iser and shm. iser: RDMA, on the same address and port number as tcp. shm: shared "
            + "memory, for mounts on this host that run as root or as the shard's user.")
    private List<String> datamovers;

    @Mixin
    private SocketDirectory sockets;

    /** The directory of the sockets for shared memory. */
    public Path socketDirectory() {
        return sockets.directory();
    }

    /** Sets the datamovers of a server. */
    public void apply(TargetContext context) {
        List<TargetPortal.Opener> openers = new ArrayList<>();
        for (String name : datamovers.stream().distinct().toList()) {
            switch (name) {
                // TCP comes first. If TCP chooses a free port, the other datamovers use the same port number.
                case TcpPortal.NAME -> openers.addFirst(new TcpPortal.Opener());
                case IserProvider.NAME -> openers.add(IserProvider.find().opener());
                case ShmPortal.NAME -> openers.add(new ShmPortal.Opener(sockets.directory(), new MappingLimits()));
                default -> throw new IllegalArgumentException("datamover='" + name
                    + "' is unknown; --datamover must be one or more of tcp, iser and shm, separated by commas");
            }
        }
        context.datamovers(openers);
    }
}
