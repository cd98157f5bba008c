package io.modeldisk.run;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A shard or a mount that a run has started. Its output and its log are files in the directory of the run. */
final class Service {
    private static final Pattern SHARD = Pattern.compile("ready: shard .* on ([0-9.]+:[0-9]+),.*");
    private static final int SHOWN_LINES = 15;

    private final String name;
    private final Path output;
    private final Path log;
    private final Process process;
    private final long beganNs = NanoClock.SYSTEM.nanoTime();
    /** The address in the ready line of a shard; null for a mount, and before the process is ready. */
    private String address;
    private boolean ready;

    private Service(String name, Path output, Path log, Process process) {
        this.name = name;
        this.output = output;
        this.log = log;
        this.process = process;
    }

    /**
     * Starts a process.
     *
     * @param name the name of the process, such as {@code shard-0}
     * @param folder the last element of the path in {@link RunDirectory#VARIABLE}, such as {@code shards}
     */
    static Service start(RunDirectory run, String name, String folder, List<String> command) throws IOException {
        Path output = run.file(name + ".out");
        Path log = run.file(name + ".log");
        ProcessBuilder builder = new ProcessBuilder(inOwnSession(command.toArray(String[]::new)))
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(output.toFile())
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put(RunDirectory.VARIABLE, run.file(folder).toString());
        // A service manager that started the run expects no message from the processes of the run.
        builder.environment().remove("NOTIFY_SOCKET");
        return new Service(name, output, log, builder.start());
    }

    /**
     * Returns a command that runs another one in a session of its own, so that Ctrl-C reaches only the run, which then ends its
     * processes in the right order.
     */
    static List<String> inOwnSession(String... command) {
        return Stream.concat(Stream.of("setsid"), Stream.of(command)).toList();
    }

    String name() {
        return name;
    }

    long processId() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns whether the process was started less than this time ago. */
    boolean isYoungerThan(Duration age) {
        return NanoClock.SYSTEM.nanoTime() - beganNs < age.toNanos();
    }

    /** Returns the status with which the process has exited. */
    int exitStatus() {
        return process.exitValue();
    }

    /** Returns whether the process has printed its ready line. */
    boolean isReady() throws IOException {
        if (!ready) {
            Optional<String> line = lines(output).filter(each -> each.startsWith("ready: ")).findFirst();
            ready = line.isPresent();
            address = line.map(SHARD::matcher).filter(Matcher::matches).map(match -> match.group(1)).orElse(null);
        }
        return ready;
    }

    /** Returns the address of a shard that is ready, such as 127.0.0.1:3260. */
    String address() {
        return address;
    }

    /** Returns the end of the log, indented; empty if nothing is in the log. */
    String endOfLog() throws IOException {
        // The launcher removes this warning only for processes that no run has started.
        List<String> lines = lines(log).filter(line -> !line.startsWith("WARNING: Using incubator modules")).toList();
        return lines.stream().skip(Math.max(0, lines.size() - SHOWN_LINES)).map(line -> "\n    " + line)
            .collect(Collectors.joining());
    }

    /** Returns the complete lines of a file. The process might be writing another line. */
    private static Stream<String> lines(Path file) throws IOException {
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        return text.substring(0, text.lastIndexOf('\n') + 1).lines();
    }
}
