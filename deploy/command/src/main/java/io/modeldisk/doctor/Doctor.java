package io.modeldisk.doctor;

import io.modeldisk.doctor.Finding.Area;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.striping.ModelAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Checks that a machine has what modeldisk needs. */
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

    /** Creates a doctor for the machine that this process runs on. */
    public static Doctor ofThisMachine() {
        return new Doctor(new Machine());
    }

    /** Returns the areas that mounts over these datamovers need; {@code auto} needs only tcp. */
    public static Set<Area> needs(List<Route.Preference> datamovers) {
        Set<Area> needed = EnumSet.of(Area.JAVA, Area.FUSE, Area.LOGIN);
        datamovers.forEach(datamover -> needed.add(areaOf(datamover)));
        return needed;
    }

    private static Area areaOf(Route.Preference datamover) {
        return switch (datamover) {
            case AUTO, TCP -> Area.TCP;
            case SHM -> Area.SHM;
            case ISER -> Area.ISER;
        };
    }

    /**
     * Runs all checks.
     *
     * @param model the model whose shards the doctor tries to reach; null for no model
     * @param datamovers the datamovers over which the doctor tries to reach the shards
     * @param login the secret with which the doctor logs in to the shards; null for no login
     */
    public Report examine(ModelAddress model, List<Route.Preference> datamovers, LoginTrial login) {
        java();
        fuse();
        sharedMemory();
        new RdmaCheck(machine, report).run();
        new GpuCheck(machine, report).run();
        new LimitsCheck(machine, report).run();
        if (model != null) {
            for (InetSocketAddress shard : model.shards()) {
                for (Route.Preference datamover : datamovers) {
                    reach(datamover, shard, model.model());
                }
            }
        }
        if (login != null) {
            login.run(model, report);
        }
        return report;
    }

    /** Returns why this process cannot mount a model, and what to do; empty if nothing prevents it. */
    public Optional<String> obstacleToMounts() {
        fuse();
        return report.findings().stream().filter(finding -> finding.state() == Finding.State.MISSING)
            .map(finding -> finding.subject() + ": " + finding.message()).findFirst();
    }

    private void java() {
        int version = machine.javaVersion();
        report.check(Area.JAVA, "Java", version >= OLDEST_JAVA, "Java " + version,
            "Java " + version + " is too old; install Java 25 or later, or set JAVA_HOME to it");
        report.check(Area.JAVA, "native access", machine.mayCallNative(), "native access is allowed",
            "Java runs without --enable-native-access=ALL-UNNAMED; use the start script `modeldisk`");
        report.check(Area.JAVA, "Vector API", machine.hasModule("jdk.incubator.vector"),
            "the Java runtime has the module jdk.incubator.vector, which the aggregators need",
            "the Java runtime does not have the module jdk.incubator.vector; use a complete JDK, or the image of "
                + "`mvn -Pimage package`");
    }

    private void fuse() {
        if (!machine.exists(FUSE)) {
            report.missing(Area.FUSE, FUSE.toString(),
                "the device does not exist; run `modprobe fuse`, or start the container with --device /dev/fuse");
            return;
        }
        if (!machine.opens(FUSE)) {
            report.missing(Area.FUSE, FUSE.toString(),
                "this user cannot open the device; run `chmod 666 /dev/fuse`, or start the container with --device /dev/fuse");
            return;
        }
        report.ok(Area.FUSE, FUSE.toString(), "this user can open the device");
        if (machine.text(FILE_SYSTEMS).filter(text -> text.lines().noneMatch(line -> line.strip().endsWith("\tfuse")))
            .isPresent()) {
            report.missing(Area.FUSE, "kernel", FILE_SYSTEMS + " does not list fuse; run `modprobe fuse`");
        }
        mounting();
    }

    private void mounting() {
        boolean root = status("Uid:").map(ids -> ids.split("\\s+")[1].equals("0")).orElse(false);
        boolean mayMount = root && hasCapability(CAP_SYS_ADMIN);
        if (mayMount) {
            report.ok(Area.FUSE, "mounting", "root may mount");
        } else if (machine.hasProgram("fusermount3")) {
            report.ok(Area.FUSE, "mounting", "this user can mount with fusermount3");
        } else {
            report.missing(Area.FUSE, "mounting", root
                ? "root does not have CAP_SYS_ADMIN here; start the container with --cap-add SYS_ADMIN"
                : "this user needs fusermount3 to mount; install the package fuse3");
        }
    }

    /**
     * Returns the value of a line of /proc/self/status. The line "Uid:" contains the real, effective, saved and file-system user
     * ID.
     */
    private Optional<String> status(String name) {
        return machine.text(STATUS)
            .flatMap(text -> text.lines().filter(line -> line.startsWith(name)).findFirst())
            .map(line -> line.substring(name.length()).strip());
    }

    private boolean hasCapability(int number) {
        return status("CapEff:").map(mask -> (Long.parseUnsignedLong(mask, 16) >>> number & 1) == 1).orElse(true);
    }

    private void sharedMemory() {
        String obstacle = machine.sharedMemoryObstacle();
        report.check(Area.SHM, "shared memory", obstacle == null,
            "mounts and shards on this host can share memory (memfd_create)", obstacle);
    }

    private void reach(Route.Preference datamover, InetSocketAddress shard, String model) {
        String name = "shard " + TargetAddress.text(shard) + " over " + datamover;
        String obstacle = machine.shardObstacle(datamover, shard, model);
        report.check(areaOf(datamover), name, obstacle == null, "the shard accepts connections", obstacle);
    }
}
