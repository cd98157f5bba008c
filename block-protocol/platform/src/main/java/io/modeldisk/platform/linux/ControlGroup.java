package io.modeldisk.platform.linux;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A control group of version 1 or 2 that limits memory (cgroups(7)). A group without a limit counts as unlimited. A group whose
 * files cannot be read also counts as unlimited.
 *
 * @param name the path of the group below the mount point
 */
record ControlGroup(Path directory, String name, Version version) {
    /** The versions of control groups, with the names of their files. */
    enum Version {
        // If a group exceeds memory.high, the kernel does not kill a process, but makes the processes of the group extremely
        // slow, so memory.high also counts as a limit.
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

    /** Returns the control group of this process and its parent groups. The memory limit of each group applies to the process. */
    static List<ControlGroup> around(Path root) {
        List<ControlGroup> groups = new ArrayList<>();
        // Each line has the form number:controllers:path. The controllers are empty for version 2 (cgroups(7)).
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
            // The form of a line (proc_pid_mountinfo(5)):
            // ID parent major:minor ROOT MOUNT_POINT options [optional fields] - TYPE source OPTIONS
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

    /** Returns a group's path relative to the mounted group, which in a container can be any group of the machine. */
    private static Path below(String mountRoot, String name) {
        Path group = Path.of(name).normalize();
        Path mounted = Path.of(mountRoot);
        // A group outside the mounted group is not visible. The mounted group is then used instead.
        return group.startsWith(mounted) ? Path.of("/").resolve(mounted.relativize(group)) : Path.of("/");
    }

    private static boolean hasWord(String list, String word) {
        return Arrays.asList(list.split(",")).contains(word);
    }

    /** Returns the number of bytes that the group can still allocate, or {@link Long#MAX_VALUE} if the group has no limit. */
    long availableBytes() {
        long usedBytes = TextFile.number(directory.resolve(version.used));
        long limitBytes = limitBytes();
        if (limitBytes == Long.MAX_VALUE || usedBytes == TextFile.NO_NUMBER) {
            return Long.MAX_VALUE;
        }
        // The kernel frees cached file pages of a group before it kills a process, so these pages count as available.
        long cachedBytes = Math.max(0, TextFile.number(directory.resolve("memory.stat"), version.inactiveFile));
        return Math.max(0, limitBytes - usedBytes + cachedBytes);
    }

    private long limitBytes() {
        long least = Long.MAX_VALUE;
        for (String file : version.limits) {
            long bytes = TextFile.number(directory.resolve(file));
            // Version 1 writes "no limit" as 2^63 - 1 rounded down to a multiple of the page size.
            if (bytes != TextFile.NO_NUMBER && bytes < Long.MAX_VALUE >> 1) {
                least = Math.min(least, bytes);
            }
        }
        return least;
    }
}
