package io.modeldisk.doctor;

import io.modeldisk.doctor.Finding.Area;
import java.nio.file.Path;
import java.util.Optional;

/** Checks the kernel's limits for a shard with many learners or a large model. */
record LimitsCheck(Machine machine, Report report) {
    static final Path LIMITS = Path.of("/proc/self/limits");
    private static final Path MAPS = Path.of("/proc/sys/vm/max_map_count");
    /**
     * The required number of file descriptors: 288 sessions and 64 logins with up to two descriptors each, and the files of
     * Java.
     */
    private static final long DESCRIPTORS = 1024;
    /** The required number of memory mappings: the default of Linux. */
    private static final long MAPPINGS = 65_530;
    private static final long UNLIMITED = Long.MAX_VALUE;

    void run() {
        limit(machine, "Max open files").ifPresent(limit -> check("open files", limit, DESCRIPTORS,
            "a shard with many learners needs more; run `ulimit -n 4096`, or set LimitNOFILE=4096 in a systemd unit"));
        machine.text(MAPS).map(String::strip).map(Long::parseLong).ifPresent(limit -> check("mappings", limit, MAPPINGS,
            "the limit is below the default of Linux; run `sysctl vm.max_map_count=65530`"));
        report.ok(Area.LIMITS, "memory", machine.memoryLimit().describe()
            + "; a mount needs 2 times the size of the model with --exchange sync, 4 times with --exchange overlap");
    }

    private void check(String subject, long limit, long least, String advice) {
        report.advise(Area.LIMITS, subject, limit >= least, limit == UNLIMITED ? "unlimited" : Long.toString(limit),
            limit + ": " + advice);
    }

    /** Returns a soft limit of this process; {@link Long#MAX_VALUE} if it is unlimited. */
    static Optional<Long> limit(Machine machine, String name) {
        return machine.text(LIMITS).flatMap(text -> text.lines().filter(line -> line.startsWith(name)).findFirst())
            .map(line -> line.substring(name.length()).strip().split("\\s+")[0])
            .map(soft -> soft.equals("unlimited") ? UNLIMITED : Long.parseLong(soft));
    }
}
