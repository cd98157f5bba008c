package io.modeldisk.mount;

import io.modeldisk.mount.fuse.FuseOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The mounts that a process sees (proc_pid_mountinfo(5)).
 *
 * @param entries the mounts in the order of mounting; a later mount hides an earlier mount on the same directory
 */
record MountTable(List<Entry> entries) {
    private static final String FILE = "mountinfo";
    private static final int DEVICE_FIELD = 2;
    private static final int MOUNT_POINT_FIELD = 4;
    private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

    /**
     * One mount.
     *
     * @param mountPoint the directory on which the file system is mounted
     * @param type the file system type, such as {@code fuse.modeldisk}
     * @param device the number of the file system, such as {@code 0:42}
     */
    record Entry(String mountPoint, String type, String device) {}

    static MountTable read() throws IOException {
        return of(Path.of("/proc/self"));
    }

    /** Returns the mounts that a process sees. The argument is the directory of this process in /proc. */
    static MountTable of(Path process) throws IOException {
        return parse(Files.readAllLines(process.resolve(FILE), StandardCharsets.ISO_8859_1));
    }

    static MountTable parse(List<String> lines) {
        return new MountTable(lines.stream().map(MountTable::entry).flatMap(Optional::stream).toList());
    }

    /** Returns the topmost mount on this directory, or empty if the directory is not a mount point. */
    Optional<Entry> at(Path directory) {
        String place = directory.toString();
        return entries.stream().filter(entry -> entry.mountPoint().equals(place)).reduce((lower, upper) -> upper);
    }

    /** Returns the directories on which the modeldisk file system with this number is mounted. */
    List<String> placesOf(String device) {
        return entries.stream().filter(entry -> entry.device().equals(device) && entry.type().equals(FuseOptions.TYPE))
            .map(Entry::mountPoint).toList();
    }

    private static Optional<Entry> entry(String line) {
        String[] sides = line.split(" - ", 2);
        String[] fields = sides[0].split(" ");
        if (sides.length < 2 || fields.length <= MOUNT_POINT_FIELD) {
            return Optional.empty();
        }
        return Optional
            .of(new Entry(unescape(fields[MOUNT_POINT_FIELD]), sides[1].split(" ", 2)[0], fields[DEVICE_FIELD]));
    }

    /** Decodes a path: the kernel writes a blank, a tab, a line feed and a backslash as a backslash and three octal digits. */
    private static String unescape(String text) {
        String bytes = OCTAL.matcher(text).replaceAll(
            code -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(code.group(1), 8))));
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
