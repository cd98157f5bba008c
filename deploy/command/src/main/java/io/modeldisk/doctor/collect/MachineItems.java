package io.modeldisk.doctor.collect;

import io.modeldisk.platform.text.PlainText;
import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** What the archive has of the machine: kernel, limits, mounts, network, RDMA devices, units, journal, crashes of Java. */
final class MachineItems {
    private static final List<String> KERNEL = List.of("/proc/version", "/proc/cmdline", "/proc/meminfo",
        "/proc/loadavg",
        "/proc/pressure/memory", "/proc/pressure/cpu", "/proc/pressure/io", "/proc/self/cgroup", "/etc/os-release");
    private static final List<String> LIMITS = List.of("/proc/self/limits", "/proc/sys/fs/file-max",
        "/proc/sys/fs/file-nr",
        "/proc/sys/vm/max_map_count", "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/swappiness",
        "/proc/sys/kernel/pid_max",
        "/proc/sys/net/core/rmem_max", "/proc/sys/net/core/wmem_max", "/proc/sys/net/ipv4/tcp_rmem",
        "/proc/sys/net/ipv4/tcp_wmem",
        "/proc/sys/kernel/yama/ptrace_scope");
    private static final Path INFINIBAND = Path.of("/sys/class/infiniband");
    private static final List<String> RDMA_PORT = List.of("state", "phys_state", "rate", "link_layer", "gids/0",
        "gids/1", "gids/2",
        "gids/3", "gid_attrs/types/0", "gid_attrs/types/1", "gid_attrs/types/2", "gid_attrs/types/3",
        "counters/port_xmit_discards",
        "counters/port_rcv_errors", "hw_counters/out_of_sequence");
    private static final String UNITS = "modeldisk*";
    private static final int MAX_CRASHES = 10;
    private static final String STATUS = "status.json";

    private MachineItems() {}

    static List<Item> all() throws IOException {
        List<Item> items = new ArrayList<>();
        items.add(new Item("kernel/kernel.txt", () -> files(KERNEL)));
        items.add(new Item("kernel/limits.txt", () -> files(LIMITS)));
        items.add(new Item("kernel/mounts.txt", () -> files(List.of("/proc/self/mountinfo"))
            + lines("/etc/fstab", line -> line.contains("modeldisk"))));
        items.add(new Item("kernel/network.txt", MachineItems::network));
        items.add(new Item("kernel/rdma.txt", MachineItems::rdma));
        if (Files.exists(Path.of("/proc/driver/nvidia"))) {
            items.add(new Item("kernel/gpu.txt", () -> Program.output("nvidia-smi", "-q")));
        }
        items.add(
            new Item("units/list.txt", () -> Program.output("systemctl", "list-units", "--all", "--no-pager", UNITS)));
        items.add(new Item("units/files.txt", () -> Program.output("systemctl", "cat", "--no-pager", UNITS)));
        items.add(new Item("units/properties.txt", () -> Program.output("systemctl", "show", "--no-pager", UNITS)));
        items.add(
            new Item("units/journal.txt", () -> Program.output("journalctl", "--no-pager", "--output=short-iso-precise",
                "--lines=3000", "--unit=" + UNITS)));
        items.add(new Item("units/kernel-journal.txt",
            () -> Program.output("journalctl", "--no-pager", "--output=short-iso-precise", "--lines=300", "--dmesg")));
        for (String line : Text.ofKernel(Path.of("/proc/self/mountinfo")).lines()
            .filter(line -> line.contains(" - fuse.modeldisk "))
            .toList()) {
            // The kernel escapes blanks, tabs and backslashes, and leaves the other bytes as they are.
            String field = line.split(" ")[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
            String directory = new String(field.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
            items
                .add(new Item("mounts" + directory + "/" + STATUS, () -> Files.readString(Path.of(directory, STATUS))));
        }
        return items;
    }

    /** Returns the reports of crashes of Java in these folders, the newest first, and items for those that cannot be read. */
    static List<Item> crashes(Collection<Path> folders) {
        List<Path> found = new ArrayList<>();
        List<Item> unreadable = new ArrayList<>();
        for (Path folder : folders) {
            try (DirectoryStream<Path> reports = Files.newDirectoryStream(folder, "hs_err*.log")) {
                for (Path report : reports) {
                    try {
                        if (Text.end(report).contains("io.modeldisk")) {
                            found.add(report);
                        }
                    } catch (IOException e) {
                        unreadable.add(Item.unreadable(crash(report), e));
                    }
                }
            } catch (NoSuchFileException | NotDirectoryException e) {
                // There are no reports.
            } catch (IOException | DirectoryIteratorException e) {
                unreadable.add(Item.unreadable("crashes" + folder.toAbsolutePath(), e));
            }
        }
        Stream<Item> newest = found.stream().sorted(Comparator.comparing(MachineItems::modified).reversed())
            .limit(MAX_CRASHES).map(report -> new Item(crash(report), () -> Text.end(report)));
        return Stream.concat(newest, unreadable.stream()).toList();
    }

    private static String crash(Path report) {
        return "crashes" + report.toAbsolutePath() + ".txt";
    }

    private static FileTime modified(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException e) {
            return FileTime.fromMillis(0);
        }
    }

    private static String files(List<String> names) {
        StringJoiner text = new StringJoiner("\n");
        for (String name : names) {
            text.add("== " + name);
            try {
                text.add(Text.ofKernel(Path.of(name)));
            } catch (IOException e) {
                text.add("cannot be read: " + e.getMessage());
            }
        }
        return text.toString();
    }

    private static String lines(String file, Predicate<String> chosen) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            StringJoiner text = new StringJoiner("\n", "== " + file + "\n", "\n");
            lines.filter(chosen).forEach(text::add);
            return text.toString();
        } catch (IOException e) {
            return "== " + file + "\ncannot be read: " + e.getMessage() + "\n";
        }
    }

    private static String network() throws SocketException {
        StringJoiner text = new StringJoiner("\n", "", "\n");
        for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
            text.add(PlainText.format("%s: mtu %d, %s, %s", each.getName(), each.getMTU(), each.isUp() ? "up" : "down",
                each.getInterfaceAddresses()));
        }
        return text + files(List.of("/proc/net/dev", "/proc/net/snmp", "/proc/net/tcp", "/proc/net/tcp6"));
    }

    private static String rdma() throws IOException {
        if (!Files.isDirectory(INFINIBAND)) {
            return "this machine has no RDMA device\n";
        }
        StringJoiner text = new StringJoiner("\n");
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(INFINIBAND)) {
            for (Path device : devices) {
                try (DirectoryStream<Path> ports = Files.newDirectoryStream(device.resolve("ports"))) {
                    for (Path port : ports) {
                        text.add(files(RDMA_PORT.stream().map(name -> port.resolve(name).toString()).toList()));
                    }
                }
            }
        }
        return text.toString();
    }
}
