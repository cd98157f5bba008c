package io.modeldisk.mount;

import io.modeldisk.platform.function.IoSupplier;
import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The processes of this machine that keep a mount alive: the process that serves the mount, and processes such as containers that
 * see the mount in another mount namespace. Processes that this user is not allowed to inspect are left out.
 */
final class MountUsers {
    private static final Path PROCESSES = Path.of("/proc");
    private static final long POLL_MS = 5;
    private static final String COMMAND = "io.modeldisk.command.Main";
    /**
     * The start of the name with which the process of a mount marks itself. The number of the file system follows. A process
     * without a mark has begun to serve the mount a moment ago, or is of an earlier version.
     */
    private static final String MARK = "mount-";
    private static final String FUSE = "/dev/fuse";
    /** The start of the line in /proc/PID/fdinfo/FD that names the connection of a FUSE descriptor, since Linux 6.16. */
    private static final String CONNECTION = "fuse_connection:\t";

    private final Path processes;
    private final Path directory;
    /** The number of the file system in mount tables. */
    private final String device;
    private final List<Path> servers;
    /**
     * The directories on which the file system was mounted before the unmount, in any mount namespace. A mount with the same
     * number on any other directory is a newer mount, because the kernel reuses numbers.
     */
    private final Set<String> places = new HashSet<>();

    /**
     * Finds the process that serves a mount. Must be called before the unmount. In /proc, reads the links of modeldisk processes
     * only: a read of the links of a process blocks while this process is in exec(2), and this exec(2) might wait for the mount.
     */
    MountUsers(Path directory, String device) throws IOException {
        this(PROCESSES, directory, device);
    }

    MountUsers(Path processes, Path directory, String device) throws IOException {
        this.processes = processes;
        this.directory = directory;
        this.device = device;
        this.servers = all().stream().filter(process -> isCommand(process) && serves(process, device)).toList();
        places.addAll(MountTable.read().placesOf(device));
        all().forEach(process -> places.addAll(placesIn(process)));
    }

    /**
     * Marks this process as the one that serves a mount.
     *
     * @return the descriptor of the mark, which ends with this process or when the caller closes it; negative if this machine has
     *     no memfd, so that an unmount does not wait for this process
     */
    static int mark(String device) throws IOException {
        return SharedMemory.isAvailable() ? SharedMemory.mark(MARK + device) : -1;
    }

    /**
     * Waits until the kernel has removed the mount and no process keeps it alive. Polls, because the files in /proc do not notify
     * of changes.
     *
     * @throws IOException if a process still keeps the mount alive after this time; the message names the process and the remedy
     */
    void awaitGone(Duration timeout, NanoClock clock) throws IOException {
        await(timeout, clock,
            () -> MountTable.read().at(directory).filter(top -> top.device().equals(device)).isPresent()
                ? Optional.of(directory + " is still mounted " + timeout.toMillis() + " ms after the unmount")
                : Optional.empty());
        await(timeout, clock, () -> holder().map(holder -> directory + " is unmounted, but " + holder
            + ", so the mount and its learner continue there; unmount it there too, or end that process"));
        await(timeout, clock, () -> servers.stream().filter(MountUsers::isCommand).findFirst()
            .map(process -> directory + " is unmounted, but process " + process.getFileName()
                + ", which served it, has not ended after " + timeout.toSeconds()
                + " s: it might be waiting for a shard that does not respond; `kill -KILL " + process.getFileName()
                + "` ends it, and the shards remove its learner when the lease expires"));
    }

    /** Waits until {@code obstacle} returns no reason why the mount is still alive. */
    private void await(Duration timeout, NanoClock clock, IoSupplier<Optional<String>> obstacle) throws IOException {
        long deadlineNs = clock.nanoTime() + timeout.toNanos();
        try {
            for (Optional<String> now = obstacle.get(); now.isPresent(); now = obstacle.get()) {
                if (clock.nanoTime() - deadlineNs > 0) {
                    throw new IOException(now.get());
                }
                clock.sleep(POLL_MS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("unmounted " + directory);
        }
    }

    /** Returns a text that names the directory of the mount and a process that still sees it. Returns empty if there is none. */
    private Optional<String> holder() throws IOException {
        for (String place : MountTable.read().placesOf(device)) {
            if (places.contains(place)) {
                return Optional.of("it is still mounted on " + place);
            }
        }
        for (Path process : all()) {
            for (String place : placesIn(process)) {
                if (places.contains(place)) {
                    return Optional.of("process " + process.getFileName() + " (" + text(process.resolve("comm")).strip()
                        + ") still has it on " + place + " in its own mount namespace");
                }
            }
        }
        return Optional.empty();
    }

    private List<String> placesIn(Path process) {
        try {
            return MountTable.of(process).placesOf(device);
        } catch (IOException e) {
            // The process has ended, or this user is not allowed to inspect it.
            return List.of();
        }
    }

    private List<Path> all() throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(processes, "[1-9]*")) {
            directories.forEach(found::add);
        }
        return found;
    }

    /**
     * Returns whether a process is alive and runs a modeldisk command. A program that embeds a mount is no such command: it does
     * not exit after an unmount, so no caller waits for its exit.
     */
    private static boolean isCommand(Path process) {
        return text(process.resolve("cmdline")).contains(COMMAND);
    }

    private static boolean serves(Path process, String device) {
        String mark = "/memfd:" + MARK + device + " (deleted)";
        String connection = CONNECTION + device.substring(device.indexOf(':') + 1);
        try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
            return descriptors.anyMatch(descriptor -> isLink(descriptor, mark) || isLink(descriptor, FUSE)
                && text(process.resolve("fdinfo").resolve(descriptor.getFileName())).lines()
                    .anyMatch(connection::equals));
        } catch (IOException | UncheckedIOException e) {
            // The process has ended, or this user is not allowed to inspect it.
            return false;
        }
    }

    private static boolean isLink(Path descriptor, String target) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(target);
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the text of a kernel file; empty if it cannot be read. */
    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
