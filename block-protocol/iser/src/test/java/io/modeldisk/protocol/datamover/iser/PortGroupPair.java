package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.engine.MemoryTarget;
import io.modeldisk.protocol.engine.Portals;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.engine.TargetServer;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.AccessState;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Scanner;

/**
 * Serves the same memory through two target port groups, so deploy/softroce/multipath can test Linux multipath. Both groups are
 * in this process, so the program tests only the protocol, not the takeover of a shard by another process.
 *
 * <p>The arguments are a host, the port of group 1 and the port of group 2. A line on standard input with the number of a group
 * makes this group active and the other group standby.
 */
public final class PortGroupPair {
    private static final long MEMORY_BYTES = 48 << 20;
    private static final long BUFFER_BYTES = 32 << 20;
    private static final int CONNECTIONS = 16;

    private PortGroupPair() {}

    /** Runs the program until the standard input ends. */
    public static void main(String[] args) throws Exception {
        DataMemory memory = DataMemory.allocate(MEMORY_BYTES);
        List<TargetPortGroups> groups = List.of(new TargetPortGroups(1, 2, AccessState.ACTIVE),
            new TargetPortGroups(2, 2, AccessState.STANDBY));
        try (TargetServer first = serve(memory, groups.get(0), args[0], args[1]);
            TargetServer second = serve(memory, groups.get(1), args[0], args[2])) {
            System.out.println("ready: " + first.portals() + " " + second.portals());
            Scanner lines = new Scanner(System.in);
            while (lines.hasNextInt()) {
                int active = lines.nextInt();
                // The previously active group becomes standby first, so two groups are never active at the same time.
                groups.get(2 - active).become(AccessState.STANDBY);
                groups.get(active - 1).become(AccessState.ACTIVE);
                System.out.println("group " + active + " is active");
            }
        }
        memory.close();
    }

    private static TargetServer serve(DataMemory memory, TargetPortGroups groups, String host, String port)
        throws Exception {
        List<TargetPortal.Opener> datamovers = List.of(new IserPortal.Opener(), new TcpPortal.Opener());
        return TargetServer.launch(new MemoryTarget(memory, groups), new TargetContext()
            .listen(new InetSocketAddress(host, Integer.parseInt(port)))
            .datamovers(datamovers)
            .access(new AccessPolicy(null, true, List.of()))
            .portals(new Portals(groups.own(), List.of()))
            .maxConnections(CONNECTIONS)
            .bufferBytes(BUFFER_BYTES));
    }
}
