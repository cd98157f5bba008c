package io.modeldisk.doctor;

import io.modeldisk.platform.text.PlainText;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds the process that listens on a TCP port. Reads only the files in /proc that this user may read. */
final class PortUser {
    private static final Path PROC = Path.of("/proc");
    private static final List<String> TABLES = List.of("/proc/net/tcp", "/proc/net/tcp6");
    private static final String LISTENING = "0A";
    private static final int LOCAL = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;
    private static final int LONGEST = 60;

    private final Machine machine;

    PortUser(Machine machine) {
        this.machine = machine;
    }

    /** Returns the number and the command line of the process that listens on a port; null if they cannot be found. */
    String describe(int port) {
        Optional<String> inode = TABLES.stream().flatMap(table -> machine.text(Path.of(table)).stream())
            .flatMap(String::lines).map(line -> line.strip().split("\\s+")).filter(fields -> isListening(fields, port))
            .map(fields -> fields[INODE]).findFirst();
        return inode.flatMap(this::process).orElse(null);
    }

    private static boolean isListening(String[] fields, int port) {
        return fields.length > INODE && fields[STATE].equals(LISTENING)
            && fields[LOCAL].endsWith(PlainText.format(":%04X", port));
    }

    private Optional<String> process(String inode) {
        String socket = "socket:[" + inode + "]";
        Stream<String> processes = machine.names(PROC).stream().filter(name -> name.matches("\\d+"));
        return processes.filter(pid -> machine.links(PROC.resolve(pid).resolve("fd")).contains(socket)).findFirst()
            .map(pid -> "process " + pid + " (" + command(pid) + ")");
    }

    private String command(String pid) {
        String line = machine.text(PROC.resolve(pid).resolve("cmdline")).orElse("?").replace('\0', ' ').strip();
        return line.length() > LONGEST ? line.substring(0, LONGEST) + " ..." : line;
    }
}
