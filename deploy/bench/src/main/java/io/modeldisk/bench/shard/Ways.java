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
 * The datamovers that this machine has, of those that were asked for.
 *
 * @param present these
 * @param missing why not, for each that is not
 */
public record Ways(List<Route.Preference> present, Map<Route.Preference, String> missing) {
    /** Looks which of them there are. */
    public static Ways of(List<Route.Preference> wanted) {
        List<Route.Preference> present = new ArrayList<>();
        Map<Route.Preference, String> missing = new EnumMap<>(Route.Preference.class);
        for (Route.Preference wish : wanted) {
            String obstacle = switch (wish) {
                case TCP -> null;
                case SHM -> SharedMemory.unavailabilityCause();
                case ISER -> IserProvider.find().unavailabilityCause();
                case AUTO -> throw new IllegalArgumentException("datamover=auto must be one of tcp, shm, iser here");
            };
            if (obstacle == null) {
                present.add(wish);
            } else {
                missing.put(wish, obstacle);
            }
        }
        return new Ways(List.copyOf(present), missing);
    }

    /** A sentence for each that is missing: it is not measured, say. */
    public List<String> notes(String done) {
        return missing.entrySet().stream()
            .map(entry -> entry.getKey() + " is not " + done + ": " + entry.getValue()).toList();
    }

    /** As {@code serve --datamover} takes them; tcp is always there, to fill the shard with. */
    public String serveOption() {
        List<Route.Preference> all = new ArrayList<>(present);
        all.remove(Route.Preference.TCP);
        all.addFirst(Route.Preference.TCP);
        return all.stream().map(Route.Preference::toString).collect(Collectors.joining(","));
    }

    /** Loopback, or where RDMA needs one the address of a device. */
    public String address() throws IOException {
        if (!present.contains(Route.Preference.ISER)) {
            return BenchShard.LOOPBACK;
        }
        return IserProvider.find().addresses().stream().findFirst().map(InetAddress::getHostAddress)
            .orElseThrow(() -> new IOException("no RDMA device of this machine has an IPv4 address; see `rdma link`"));
    }
}
