package io.modeldisk.doctor;

import io.modeldisk.doctor.Finding.Area;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Checks the kernel devices, permissions, limits and libraries that RDMA needs. */
record RdmaCheck(Machine machine, Report report) {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final Path CONNECTION_MANAGER = Path.of("/dev/infiniband/rdma_cm");
    private static final List<String> LIBRARIES = List.of("libibverbs.so.1", "librdmacm.so.1");
    /** The prefix of a GID that holds an IPv4 address. DiSNI connects only over IPv4. */
    private static final String IPV4 = "0000:0000:0000:0000:0000:ffff:";
    private static final String NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";
    /** The minimum network MTU for RDMA packets with 4096 bytes of data and their headers. */
    private static final int LARGE_MTU = 4200;
    private static final long LOCKED_BYTES = 1L << 30;

    void run() {
        for (String library : LIBRARIES) {
            report.check(Area.ISER, library, machine.hasLibrary(library), "the library is installed",
                "the library cannot be loaded; install libibverbs1, librdmacm1 and ibverbs-providers");
        }
        List<String> devices = machine.names(DEVICES);
        if (devices.isEmpty()) {
            report.missing(Area.ISER, "RDMA device", DEVICES
                + " has no device; load the card's driver, or create a software device with"
                + " `rdma link add rxe0 type rxe netdev NAME`");
            return;
        }
        devices.forEach(this::device);
        report.check(Area.ISER, CONNECTION_MANAGER.toString(), machine.opens(CONNECTION_MANAGER),
            "this user can open the device",
            "this user cannot open the device; run `modprobe rdma_ucm`, and give this user access to /dev/infiniband");
        locked();
        String obstacle = machine.rdmaObstacle();
        report.check(Area.ISER, "libdisni", obstacle == null, "the library is loaded and finds the devices", obstacle);
    }

    private void device(String device) {
        Path ports = DEVICES.resolve(device).resolve("ports");
        for (String port : machine.names(ports)) {
            String name = device + " port " + port;
            Path place = ports.resolve(port);
            String state = machine.text(place.resolve("state")).map(String::strip).orElse("unknown");
            report.check(Area.ISER, name, state.endsWith("ACTIVE"),
                "active, " + text(place.resolve("link_layer")) + ", " + text(place.resolve("rate")),
                "the port state is "
                    + state + "; check the cable, and that the network device is up (`ip link set NAME up`)");
            gid(name, place);
        }
    }

    private String text(Path file) {
        return machine.text(file).map(String::strip).orElse("?");
    }

    private void gid(String name, Path port) {
        Optional<String> index = machine.names(port.resolve("gids")).stream()
            .filter(each -> text(port.resolve("gids").resolve(each)).startsWith(IPV4)).findFirst();
        if (index.isEmpty() && text(port.resolve("link_layer")).equals("InfiniBand")) {
            // GIDs of InfiniBand contain no IP addresses. Connections use the addresses of IPoIB.
            report.ok(Area.ISER, name + " GID", "connections use the addresses of IPoIB");
            return;
        }
        if (index.isEmpty()) {
            boolean any = machine.names(port.resolve("gids")).stream()
                .anyMatch(each -> !text(port.resolve("gids").resolve(each)).equals(NO_GID));
            report.missing(Area.ISER, name + " GID", (any ? "no GID has an IPv4 address" : "the port has no GID")
                + "; give the port's network device an address (`ip addr add 10.0.0.1/24 dev NAME`)");
            return;
        }
        Path attributes = port.resolve("gid_attrs");
        report.ok(Area.ISER, name + " GID " + index.get(), text(port.resolve("gids").resolve(index.get())) + ", "
            + text(attributes.resolve("types").resolve(index.get())));
        mtu(name, text(attributes.resolve("ndevs").resolve(index.get())));
    }

    private void mtu(String name, String network) {
        machine.text(Path.of("/sys/class/net", network, "mtu")).map(String::strip).map(Integer::parseInt)
            .ifPresent(mtu -> report.advise(Area.ISER, name + " MTU", mtu >= LARGE_MTU,
                mtu + " on " + network + ": RDMA packets have up to 4096 bytes",
                mtu + " on " + network + ": RDMA packets are smaller than 4096 bytes; run `ip link set " + network
                    + " mtu 4200` on all hosts, and set the same MTU on all switches"));
    }

    private void locked() {
        long limit = LimitsCheck.limit(machine, "Max locked memory").orElse(Long.MAX_VALUE);
        report.advise(Area.ISER, "locked memory", limit >= LOCKED_BYTES,
            limit == Long.MAX_VALUE ? "unlimited" : (limit >> 20) + " MiB", (limit >> 10)
                + " KiB; RDMA locks all memory that it transfers, including a shard's model: run `ulimit -l unlimited`, or set "
                + "LimitMEMLOCK=infinity in a systemd unit (not necessary for root)");
    }
}
