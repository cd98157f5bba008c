package io.modeldisk.bench.shard;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The resources that a process uses, read from /proc.
 *
 * @param residentBytes the resident memory of the process
 * @param threads the number of threads of the process
 * @param descriptors the number of open files and sockets of the process
 */
public record ProcessUsage(long residentBytes, int threads, int descriptors) {
    private static final int KIB = 1024;

    static ProcessUsage of(long pid) throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        long resident = 0;
        int threads = 0;
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith("VmRSS:")) {
                resident = number(line) * KIB;
            } else if (line.startsWith("Threads:")) {
                threads = (int) number(line);
            }
        }
        try (var open = Files.list(process.resolve("fd"))) {
            return new ProcessUsage(resident, threads, (int) open.count());
        }
    }

    private static long number(String line) {
        return Long.parseLong(line.replaceAll("\\D", ""));
    }
}
