package io.modeldisk.bench.shard;

import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.initiator.Route;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The requested datamovers that are available on this machine, and those that are unavailable.
 *
 * @param present the available datamovers
 * @param missing the unavailable datamovers, each with the reason
 */
public record Ways(List<Route.Preference> present, Map<Route.Preference, String> missing) {
    /** Finds the available and the unavailable datamovers among {@code wanted}. */
    public static Ways of(List<Route.Preference> wanted) {
        List<Route.Preference> present = new ArrayList<>();
        Map<Route.Preference, String> missing = new EnumMap<>(Route.Preference.class);
        for (Route.Preference wish : wanted) {
            String obstacle = switch (wish) {
                case TCP -> null;
                case SHM -> SharedMemory.unavailabilityCause();
                case ISER -> IserProvider.find().unavailabilityCause();
                case AUTO -> throw new IllegalArgumentException("datamover=auto must be one of tcp, shm, iser");
            };
            if (obstacle == null) {
                present.add(wish);
            } else {
                missing.put(wish, obstacle);
            }
        }
        return new Ways(List.copyOf(present), missing);
    }

    /** Returns a sentence for each unavailable datamover, such as "iser is not measured: REASON". */
    public List<String> notes(String done) {
        return missing.entrySet().stream()
            .map(entry -> entry.getKey() + " is not " + done + ": " + entry.getValue()).toList();
    }

    /** The value for {@code serve --datamover}. The value always contains tcp, since the benchmark fills the shard over TCP. */
    public String serveOption() {
        List<Route.Preference> all = new ArrayList<>(present);
        all.remove(Route.Preference.TCP);
        all.addFirst(Route.Preference.TCP);
        return all.stream().map(Route.Preference::toString).collect(Collectors.joining(","));
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
