package io.modeldisk.platform.linux;

import io.modeldisk.platform.text.PlainText;
import java.nio.file.Path;

/**
 * The memory that this process can still allocate before Linux kills a process to free memory. The limit is the minimum of the
 * available memory of the machine and of each control group of this process. Immutable.
 *
 * @param availableBytes the available memory in bytes, or {@link Long#MAX_VALUE} if there is no known limit
 * @param source the source of the limit: {@code this machine}, or a control group with its path
 */
public record MemoryLimit(long availableBytes, String source) {
    /** The source of a limit that comes from the memory of the machine. */
    public static final String MACHINE = "this machine";

    private static final double GIB = 1L << 30;

    /** Returns the current limit. A value that cannot be read counts as unlimited. */
    public static MemoryLimit ofThisProcess() {
        return read(Path.of("/"));
    }

    /**
     * Reads the limit from the files {@code proc/meminfo}, {@code proc/self/cgroup} and {@code proc/self/mountinfo}, and from the
     * files of the control groups.
     *
     * @param root the directory that contains {@code proc} and {@code sys}
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

    /** Returns whether the process can allocate {@code bytes} more. */
    public boolean allows(long bytes) {
        return bytes <= availableBytes;
    }

    /** Returns the limit as text for a message, such as {@code 2.50 GiB available (control group /learners)}. */
    public String describe() {
        return availableBytes == Long.MAX_VALUE
            ? "no known limit"
            : PlainText.format("%.2f GiB available (%s)", availableBytes / GIB, source);
    }

    private static long machineBytes(Path root) {
        long kibibytes = TextFile.number(root.resolve("proc/meminfo"), "MemAvailable:");
        return kibibytes == TextFile.NO_NUMBER ? Long.MAX_VALUE : kibibytes << 10;
    }
}
