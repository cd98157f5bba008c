package io.modeldisk.doctor;

import io.modeldisk.doctor.Finding.Area;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.striping.ModelAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Looks at this machine. */
public final class Doctor {
    private static final int OLDEST_JAVA = 25;
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path FUSE = Path.of("/dev/fuse");
    private static final Path FILE_SYSTEMS = Path.of("/proc/filesystems");
    private static final int CAP_SYS_ADMIN = 21;

    private final Machine machine;
    private final Report report = new Report();

    Doctor(Machine machine) {
        this.machine = machine;
    }

    /** To look at the machine that this process runs on. */
    public static Doctor ofThisMachine() {
        return new Doctor(new LinuxMachine());
    }

    /** What cannot be missing for mounts over these datamovers; {@code auto} finds its way as long as there is tcp. */
    public static Set<Area> needs(List<Route.Wish> datamovers) {
        Set<Area> needed = EnumSet.of(Area.JAVA, Area.FUSE);
        datamovers.forEach(datamover -> needed.add(areaOf(datamover)));
        return needed;
    }

    private static Area areaOf(Route.Wish datamover) {
        return switch (datamover) {
            case AUTO, TCP -> Area.TCP;
            case SHM -> Area.SHM;
            case ISER -> Area.ISER;
        };
    }

    /**
     * Looks at everything.
     *
     * @param listen where shards shall listen
     * @param model whose shards shall be reached; null for none
     * @param datamovers over what
     */
    public Report examine(List<InetSocketAddress> listen, ModelAddress model, List<Route.Wish> datamovers) {
        java();
        fuse();
        for (InetSocketAddress address : listen) {
            port(address);
        }
        sharedMemory();
        new RdmaCheck(machine, report).run();
        new LimitsCheck(machine, report).run();
        if (model != null) {
            for (InetSocketAddress shard : model.shards()) {
                for (Route.Wish datamover : datamovers) {
                    reach(datamover, shard, model.model());
                }
            }
        }
        return report;
    }

    private void java() {
        int version = machine.javaVersion();
        if (version < OLDEST_JAVA) {
            report.missing(Area.JAVA, "Java",
                "this is Java " + version + "; install 25 or later, or set JAVA_HOME to it");
        } else {
            report.ok(Area.JAVA, "Java", "Java " + version);
        }
        if (machine.mayCallNative()) {
            report.ok(Area.JAVA, "native access", "allowed");
        } else {
            report.missing(Area.JAVA, "native access",
                "Java was started without --enable-native-access=ALL-UNNAMED, as the modeldisk command starts it");
        }
        if (machine.hasModule("jdk.incubator.vector")) {
            report.ok(Area.JAVA, "Vector API", "the runtime has jdk.incubator.vector, which aggregators run on");
        } else {
            report.missing(Area.JAVA, "Vector API",
                "the runtime has no module jdk.incubator.vector: take a whole JDK, or the image of `mvn -Pimage package`");
        }
    }

    private void fuse() {
        if (!machine.exists(FUSE)) {
            report.missing(Area.FUSE, FUSE.toString(),
                "it is not there: `modprobe fuse`; in a container, start that with --device /dev/fuse");
            return;
        }
        if (!machine.opens(FUSE)) {
            report.missing(Area.FUSE, FUSE.toString(),
                "it cannot be opened: `chmod 666 /dev/fuse`, or in a container let it have the device");
            return;
        }
        report.ok(Area.FUSE, FUSE.toString(), "it can be opened");
        if (machine.text(FILE_SYSTEMS).filter(text -> text.lines().noneMatch(line -> line.strip().endsWith("\tfuse")))
            .isPresent()) {
            report.missing(Area.FUSE, "kernel", FILE_SYSTEMS + " does not list fuse: `modprobe fuse`");
        }
        mounting();
    }

    private void mounting() {
        boolean root = status("Uid:").map(ids -> ids.split("\\s+")[1].equals("0")).orElse(false);
        boolean mayMount = root && hasCapability(CAP_SYS_ADMIN);
        if (mayMount) {
            report.ok(Area.FUSE, "mounting", "root may mount");
        } else if (machine.hasProgram("fusermount3")) {
            report.ok(Area.FUSE, "mounting", "fusermount3 mounts for users");
        } else {
            report.missing(Area.FUSE, "mounting", root
                ? "root has no CAP_SYS_ADMIN here: start the container with --cap-add SYS_ADMIN"
                : "a user cannot mount without fusermount3: install the package fuse3");
        }
    }

    /** A line of the process's status behind its name: the ids are real, effective, saved and of file systems. */
    private Optional<String> status(String name) {
        return machine.text(STATUS)
            .flatMap(text -> text.lines().filter(line -> line.startsWith(name)).findFirst())
            .map(line -> line.substring(name.length()).strip());
    }

    private boolean hasCapability(int number) {
        return status("CapEff:").map(mask -> (Long.parseUnsignedLong(mask, 16) >>> number & 1) == 1).orElse(true);
    }

    private void port(InetSocketAddress address) {
        String name = "port " + TargetAddress.text(address);
        String obstacle = machine.listenObstacle(address);
        if (obstacle == null) {
            report.ok(Area.TCP, name, "free: a shard can listen there");
            return;
        }
        String user = new PortUser(machine).describe(address.getPort());
        report.warning(Area.TCP, name, "a shard cannot listen there (" + obstacle + ")"
            + (user == null ? "" : "; in use by " + user) + "; choose another with `serve --listen`");
    }

    private void sharedMemory() {
        String obstacle = machine.sharedMemoryObstacle();
        if (obstacle == null) {
            report.ok(Area.SHM, "shared memory", "memfd_create: learners and shards on this host can share memory");
        } else {
            report.missing(Area.SHM, "shared memory", obstacle);
        }
    }

    private void reach(Route.Wish datamover, InetSocketAddress shard, String model) {
        String name = "shard " + TargetAddress.text(shard) + " over " + datamover;
        String obstacle = machine.shardObstacle(datamover, shard, model);
        if (obstacle == null) {
            report.ok(areaOf(datamover), name, "it takes connections");
        } else {
            report.missing(areaOf(datamover), name, "it " + obstacle);
        }
    }
}
