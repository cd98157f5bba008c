package io.modeldisk.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much memory can be had: asked before it is taken, for a system that runs out of it kills processes. */
final class AvailableMemory {
    private static final double GIB = 1L << 30;

    private final double bytes;

    private AvailableMemory(double bytes) {
        this.bytes = bytes;
    }

    /** What the machine has to give, or this control group, whichever is less; a system that does not tell has any amount. */
    static AvailableMemory ofThisMachine() {
        return of(Path.of("/proc/meminfo"), Path.of("/sys/fs/cgroup"));
    }

    static AvailableMemory of(Path meminfo, Path controlGroup) {
        return new AvailableMemory(Math.min(machineBytes(meminfo), controlGroupBytes(controlGroup)));
    }

    /**
     * Checks that so much can be had.
     *
     * @throws IOException if it cannot, with both figures
     */
    void require(long neededBytes, String user) throws IOException {
        if (neededBytes > bytes) {
            throw new IOException("%s needs %.2f GiB of memory for its buffers, this machine has %.2f GiB to give"
                .formatted(user, neededBytes / GIB, bytes / GIB)
                + "; sync needs twice the model, overlap four times, direct nothing");
        }
    }

    private static double machineBytes(Path meminfo) {
        try {
            return line(meminfo, "MemAvailable:") * 1024;
        } catch (IOException | NumberFormatException e) {
            return Double.POSITIVE_INFINITY;
        }
    }

    /** Version 2 of control groups; a group without a limit says {@code max}. */
    private static double controlGroupBytes(Path directory) {
        try {
            double free = number(directory.resolve("memory.max")) - number(directory.resolve("memory.current"));
            // What the group has cached of files, the kernel gives up first.
            return Math.max(0, free + line(directory.resolve("memory.stat"), "inactive_file "));
        } catch (IOException | NumberFormatException e) {
            return Double.POSITIVE_INFINITY;
        }
    }

    private static double line(Path file, String start) throws IOException {
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith(start)) {
                return Long.parseLong(line.substring(start.length()).replace("kB", "").strip());
            }
        }
        throw new IOException(file + " has no line " + start);
    }

    private static double number(Path file) throws IOException {
        return Long.parseLong(Files.readString(file).strip());
    }
}
