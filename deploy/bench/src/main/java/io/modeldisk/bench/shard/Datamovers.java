package io.modeldisk.bench.shard;

import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.initiator.Route;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The requested datamovers that are available on this machine.
 *
 * @param present the available datamovers
 * @param missing a sentence for each unavailable datamover, such as "iser is not measured: REASON"
 */
public record Datamovers(List<Route.Preference> present, List<String> missing) {
    /**
     * Finds the available and the unavailable datamovers among those that an option names.
     *
     * @throws IllegalArgumentException if a name is unknown
     */
    public static Datamovers named(List<String> names) {
        List<Route.Preference> present = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (Route.Preference wish : names.stream().distinct()
            .map(name -> EnumNames.parse(Route.Preference.class, "datamover", name)).toList()) {
            String obstacle = switch (wish) {
                case TCP -> null;
                case SHM -> SharedMemory.unavailabilityCause();
                case ISER -> IserProvider.find().unavailabilityCause();
                case AUTO -> throw new IllegalArgumentException("datamover=auto must be one of tcp, shm, iser");
            };
            if (obstacle == null) {
                present.add(wish);
            } else {
                missing.add(wish + " is not measured: " + obstacle);
            }
        }
        return new Datamovers(List.copyOf(present), missing);
    }

    /** The value for {@code serve --datamover}. The value always contains tcp, since the benchmark fills the shard over TCP. */
    public String serveOption() {
        return Stream.concat(Stream.of(Route.Preference.TCP), present.stream()).distinct()
            .map(Route.Preference::toString).collect(Collectors.joining(","));
    }

    /** The loopback address, or the address of an RDMA device if iser is available. */
    public String address() throws IOException {
        if (!present.contains(Route.Preference.ISER)) {
            return BenchShard.LOOPBACK;
        }
        return IserProvider.find().addresses().stream().findFirst().map(InetAddress::getHostAddress)
            .orElseThrow(() -> new IOException("no RDMA device of this machine has an IPv4 address; see `rdma link`"));
    }
}
