package io.modeldisk.platform.linux;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A control group that limits memory, of version 1 or 2 (cgroups(7)). A group that states no limit, or whose files are missing,
 * does not limit.
 *
 * @param name its path as {@code /proc/self/cgroup} writes it
 */
record ControlGroup(Path directory, String name, Version version) {
    /** The two versions of control groups, and the names of their files. */
    enum Version {
        // The limit memory.high does not kill, but it slows a process above it until that process makes no progress.
        V1("memory.usage_in_bytes", "total_inactive_file ", "memory.limit_in_bytes"), V2("memory.current",
            "inactive_file ", "memory.max", "memory.high");

        private final String used;
        private final String inactiveFile;
        private final String[] limits;

        Version(String used, String inactiveFile, String... limits) {
            this.used = used;
            this.inactiveFile = inactiveFile;
            this.limits = limits;
        }
    }

    /** The groups that limit the memory of this process: its own, and each group above. */
    static List<ControlGroup> around(Path root) {
        List<ControlGroup> groups = new ArrayList<>();
        // A line is number:controllers:path; version 2 has no controllers there (cgroups(7)).
        for (String line : TextFile.lines(root.resolve("proc/self/cgroup"))) {
            String[] fields = line.split(":", 3);
            if (fields.length < 3) {
                continue;
            }
            if (fields[1].isEmpty()) {
                addAround(groups, root, fields[2], Version.V2);
            } else if (hasWord(fields[1], "memory")) {
                addAround(groups, root, fields[2], Version.V1);
            }
        }
        return groups;
    }

    private static void addAround(List<ControlGroup> groups, Path root, String name, Version version) {
        for (String line : TextFile.lines(root.resolve("proc/self/mountinfo"))) {
            // ID parent major:minor ROOT MOUNT_POINT options [optional fields] - TYPE source OPTIONS (proc_pid_mountinfo(5))
            String[] halves = line.split(" - ", 2);
            String[] mount = halves[0].split(" ");
            String[] type = halves[halves.length - 1].split(" ");
            if (halves.length == 2 && mount.length > 4 && type.length > 2 && isMountOf(version, type[0], type[2])) {
                Path top = root.resolve("." + mount[4]).normalize();
                for (Path below = below(mount[3], name); below != null; below = below.getParent()) {
                    groups.add(new ControlGroup(top.resolve(below.toString().substring(1)), below.toString(), version));
                }
            }
        }
    }

    private static boolean isMountOf(Version version, String type, String options) {
        return version == Version.V2 ? type.equals("cgroup2") : type.equals("cgroup") && hasWord(options, "memory");
    }

    /** The group relative to what is mounted: in a container, a group of the machine may be mounted as the top. */
    private static Path below(String mountRoot, String name) {
        Path group = Path.of(name).normalize();
        Path mounted = Path.of(mountRoot);
        // A group that is not below the mounted one cannot be seen; the mounted one limits the container.
        return group.startsWith(mounted) ? Path.of("/").resolve(mounted.relativize(group)) : Path.of("/");
    }

    private static boolean hasWord(String list, String word) {
        return Arrays.asList(list.split(",")).contains(word);
    }

    /** The bytes below the group's lowest limit; {@link Long#MAX_VALUE} without a limit. */
    long availableBytes() {
        long usedBytes = TextFile.number(directory.resolve(version.used));
        long limitBytes = limitBytes();
        if (limitBytes == Long.MAX_VALUE || usedBytes == TextFile.NO_NUMBER) {
            return Long.MAX_VALUE;
        }
        // The kernel drops cached file pages of a group before it kills a process.
        long cachedBytes = Math.max(0, TextFile.number(directory.resolve("memory.stat"), version.inactiveFile));
        return Math.max(0, limitBytes - usedBytes + cachedBytes);
    }

    private long limitBytes() {
        long least = Long.MAX_VALUE;
        for (String file : version.limits) {
            long bytes = TextFile.number(directory.resolve(file));
            // Version 1 writes "no limit" as 2^63 rounded down to a page.
            if (bytes != TextFile.NO_NUMBER && bytes < Long.MAX_VALUE >> 1) {
                least = Math.min(least, bytes);
            }
        }
        return least;
    }
}
