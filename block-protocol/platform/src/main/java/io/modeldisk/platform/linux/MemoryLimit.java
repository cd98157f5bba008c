package io.modeldisk.platform.linux;

import java.nio.file.Path;
import java.util.Locale;

/**
 * The memory that this process can still take before Linux kills a process to get it back: the least of what the machine has
 * available and of what each control group around this process leaves, of version 1 or 2. Immutable.
 *
 * @param availableBytes {@link Long#MAX_VALUE} if the system states no limit
 * @param source where that limit comes from: {@code this machine}, or the control group by its path
 */
public record MemoryLimit(long availableBytes, String source) {
    /** The source of a limit that is the machine's memory. */
    public static final String MACHINE = "this machine";

    private static final double GIB = 1L << 30;

    /** The limit now. A figure that cannot be read does not limit. */
    public static MemoryLimit ofThisProcess() {
        return read(Path.of("/"));
    }

    /**
     * The limit according to the files {@code proc/meminfo}, {@code proc/self/cgroup}, {@code proc/self/mountinfo} and those of
     * the control groups.
     *
     * @param root the directory that holds {@code proc} and {@code sys}
     */
    public static MemoryLimit read(Path root) {
        MemoryLimit least = new MemoryLimit(machineBytes(root), MACHINE);
        for (ControlGroup group : ControlGroup.around(root)) {
            long availableBytes = group.availableBytes();
            if (availableBytes < least.availableBytes) {
                least = new MemoryLimit(availableBytes, "control group " + group.name());
            }
        }
        return least;
    }

    /** Whether this much memory can be taken. */
    public boolean allows(long bytes) {
        return bytes <= availableBytes;
    }

    /** For a message, such as {@code 2.50 GiB available (control group /learners)}. */
    public String describe() {
        return availableBytes == Long.MAX_VALUE
            ? "no known limit"
            : String.format(Locale.ROOT, "%.2f GiB available (%s)", availableBytes / GIB, source);
    }

    private static long machineBytes(Path root) {
        long kibibytes = TextFile.number(root.resolve("proc/meminfo"), "MemAvailable:");
        return kibibytes == TextFile.NO_NUMBER ? Long.MAX_VALUE : kibibytes << 10;
    }
}
